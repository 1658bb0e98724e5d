"""Folders of object stores and other machines, for the files of sweeps."""

from __future__ import annotations

from typing import Any


def is_url(folder: str) -> bool:
    """Whether a folder is one that fsspec knows, such as ``s3://bucket/sweep``."""
    return "://" in folder


class Store:
    """A folder that fsspec knows. Names are relative, with slashes."""

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError as error:
            raise ImportError(f"{url} needs fsspec: pip install fsspec") from error

        files, root = fsspec.core.url_to_fs(url)
        self._files: Any = files
        self._root: str = root.rstrip("/")

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def list(self, folder: str) -> list[str]:
        """Names of all files in a folder and its subfolders."""
        # Other workers write here too.
        self._files.invalidate_cache()
        found = self._files.find(self._path(folder))
        return [path[path.index(self._root) + len(self._root) + 1 :] for path in found]

    def read(self, name: str) -> bytes | None:
        """The content of a file, if there is one."""
        try:
            content: bytes = self._files.cat_file(self._path(name))
        except FileNotFoundError:
            return None
        return content

    def write(self, name: str, content: bytes) -> None:
        """Writes a file in the place of an earlier one."""
        path = self._path(name)
        self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._files.pipe_file(path, content)

    def remove(self, name: str) -> None:
        """Removes a file."""
        self._files.rm_file(self._path(name))

"""Folders of object stores and other machines, for the files of sweeps."""

from __future__ import annotations

import re
from typing import Any

from ratewire._errors import SettingError


def is_url(folder: str) -> bool:
    """Whether a folder is one that fsspec knows, such as ``s3://bucket/sweep``."""
    if re.match(r"[a-z][a-z0-9+.-]+:/[^/]", folder):
        raise SettingError(f"folder {folder}: the path of a URL lacks a slash; give it as text")
    return "://" in folder


class Store:
    """A folder that fsspec knows. Names are relative, with slashes."""

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError as error:
            raise ImportError(f"{url} needs fsspec: pip install fsspec") from error

        try:
            files, root = fsspec.core.url_to_fs(url)
        except ValueError as error:
            help = "install fsspec's driver for the place, such as s3fs for s3://"
            told = f"folder {url}: fsspec cannot open it: {error}\n  help: {help}"
            raise SettingError(told) from error
        self._files: Any = files
        self._root: str = root.rstrip("/")

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def list(self, folder: str) -> list[str]:
        """Names of all files in a folder and its subfolders."""
        # Other workers write here too.
        self._files.invalidate_cache()
        try:
            found = self._files.find(self._path(folder), on_error="raise")
        except FileNotFoundError:
            return []
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
        try:
            self._files.pipe_file(path, content)
        except FileNotFoundError:
            # Object stores need no folders.
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(path, content)

    def remove(self, name: str) -> None:
        """Removes a file."""
        self._files.rm_file(self._path(name))

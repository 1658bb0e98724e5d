"""Measured rows: medians with ranges as Markdown, and each round as a line of JSON."""
import json
import math
import statistics

from . import machine

# Cores that other programs may have while a row is measured.
DISTURBED = 0.1


def quantile(values, share):
    """The smallest value that at least this share of the values does not exceed; NaN without values."""
    ordered = sorted(values)
    return ordered[max(math.ceil(share * len(ordered)), 1) - 1] if ordered else math.nan


def number(value):
    """Three digits, or all of them in front of the point."""
    if math.isnan(value):
        return "-"
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def spread(values):
    """The median, with the range behind it."""
    values = [value for value in values if value is not None]
    if not values:
        return "failed"
    text = number(statistics.median(values))
    if len(values) > 1 and min(values) != max(values):
        text += f" ({number(min(values))} to {number(max(values))})"
    return text


class Report:
    """Rows of one part, each with what tells it apart and what was measured in one round."""

    def __init__(self, part, file=None):
        self.part, self.file, self.rows, self.others = part, file, [], machine.Others()

    def add(self, **row):
        """Takes a row that has been measured since the one before."""
        row["others"] = round(self.others.cores(), 3)
        self.rows.append(row)
        if self.file:
            self.file.write(json.dumps({"part": self.part, **row}) + "\n")
            self.file.flush()

    def tell_others(self):
        """Says how many rows other programs may have changed."""
        disturbed = sum(row.get("others", 0) > DISTURBED for row in self.rows)
        print(
            f"In {disturbed} of {len(self.rows)} rows, other programs had more than {DISTURBED} of a core "
            f"(without those of the idle class)."
        )

    def read(self, lines):
        """Takes the rows of this part from lines of JSON of earlier runs."""
        rows = [json.loads(line) for line in lines]
        self.rows += [row for row in rows if row.pop("part") == self.part]

    def values(self, measure, **where):
        """What was measured in the rounds of the rows that are meant."""
        matches = lambda row: all(row.get(name) == value for name, value in where.items())
        return [row.get(measure) for row in self.rows if matches(row)]

    def different(self, *names):
        """Different values of these names, in their order."""
        return list(dict.fromkeys(tuple(row.get(name) for name in names) for row in self.rows))


def table(heads, lines):
    """Prints a table in Markdown."""
    print("\n| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for line in lines:
        print("| " + " | ".join(line) + " |", flush=True)
    print()

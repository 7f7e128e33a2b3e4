import pytest

from rarefuse.manual.markdown import cell, code, table


def test_code_with_backticks_in_it():
    assert code("a") == "`a`"
    assert code("`a` or b") == "`` `a` or b ``"


def test_cells_are_one_line_and_show_what_would_be_markup():
    assert cell("a |\n  <b>") == "a \\| &lt;b>"
    assert cell('as JSON: {"a_b": 1}') == 'as JSON: \\{"a\\_b": 1\\}'


def test_code_in_a_cell_stays():
    assert cell("`a|<b>_{}` | c") == "`a|<b>_{}` \\| c"


def test_a_table_by_hand():
    assert table(("a", "b"), [("1", "2")]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_a_row_of_another_length_is_refused():
    with pytest.raises(ValueError, match="1 cells below 2 headings"):
        table(("a", "b"), [("1",)])

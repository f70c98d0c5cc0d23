"""What YAML means here: 1.2 scalars, strictness, bounds, and every byte that may come in."""

import time

import pytest

from specc.diagnostics import Position
from specc.spec.reader import read as read_tree
from specc.spec.scalars import ScalarError, resolve
from specc.spec.tree import plain
from tests.unit.spec.specs import TINY, changed, read, refused

# Vector V43: what each plain scalar is in YAML 1.2.
CORE = {
    "no": "no",
    "off": "off",
    "on": "on",
    "yes": "yes",
    "NO": "NO",
    "y": "y",
    "n": "n",
    "true": True,
    "1e-5": 1e-5,
    "1e-05": 1e-5,
    "1.0e-5": 1e-5,
    "5e-4": 5e-4,
    "1e5": 1e5,
    "1.0e5": 1e5,
    "1.0e+5": 1e5,
    "0o10": 8,
    "0x1F": 31,
    "1:30": "1:30",
    "1_000": "1_000",
    "~": None,
    "null": None,
    "None": "None",
    "inf": "inf",
    "nan": "nan",
    "1.10": 1.1,
    ".5": 0.5,
    "": None,
    "-3": -3,
    "+4": 4,
    "False": False,
    "2k/d": "2k/d",
    "65e6": 65e6,
    "4%": "4%",
}


@pytest.mark.parametrize("text", CORE)
def test_plain_scalars_are_yaml_1_2(text):
    assert resolve(text) == CORE[text]
    assert type(resolve(text)) is type(CORE[text])


@pytest.mark.parametrize(
    "text", ["010", "08", "-010", "00", ".inf", "-.inf", ".nan", "1e999", "9" * 50]
)
def test_what_two_readers_would_read_differently_is_refused(text):
    with pytest.raises(ScalarError):
        resolve(text)


def test_a_quoted_scalar_is_text():
    _, tree = read_tree('a: "010"\nb: \'true\'\nc: "1e-5"\n', "s")
    assert plain(tree) == {"a": "010", "b": "true", "c": "1e-5"}


def test_every_node_knows_its_place_and_path():
    _, tree = read_tree("a:\n  - b: 1\n    c: [x, 2]\n", "s")
    inner = tree.get("a").items[0].get("c")
    assert inner.mark.position == Position(3, 8)
    assert inner.items[1].mark.position == Position(3, 12)
    assert inner.items[1].mark.written == ("a", 0, "c", 1)


def test_duplicate_keys_give_both_lines():
    error = refused("a: 1\nb: 2\na: 3\n")
    assert error.diagnostics[0].position == Position(3, 1)
    assert "line 1" in str(error)


def test_duplicate_keys_deep_inside():
    assert "line 1" in str(refused("a: {b: 1, b: 2}\n"))


# Vector V45: three values that a lax schema would take.
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("n_layers: 2", "n_layers: on"),
        ("n_layers: 2", "n_layers: true"),
        ("d_ff: 64}", "d_ff: 64}\nnorm: {eps: '1e-5'}"),
        ("d_ff: 64}", "d_ff: 64}\nhead: {tied: off}"),
        ("d_ff: 64}", "d_ff: 64}\nhead: {tied: 'true'}"),
        ("d_ff: 64}", "d_ff: 64}\nhead: {tied: 1}"),
        ("d_ff: 64}", "d_ff: 64}\nnorm: {eps: true}"),
    ],
)
def test_nothing_is_coerced(old, new):
    error = refused(changed(old, new))
    assert all(each.position is not None for each in error.diagnostics)


def test_line_ends_and_byte_order_mark_do_not_matter():
    plain_spec = read(TINY).spec
    assert read(TINY.replace("\n", "\r\n").encode()).spec == plain_spec
    assert read(TINY.replace("\n", "\r").encode()).spec == plain_spec
    assert read(b"\xef\xbb\xbf" + TINY.encode()).spec == plain_spec
    assert read("\ufeff" + TINY).spec == plain_spec
    assert read("---\n" + TINY + "...\n").spec == plain_spec


def test_crlf_moves_no_place():
    text = changed("d_model", "d_modle")
    here = refused(text).diagnostics[0].position
    assert refused(text.replace("\n", "\r\n").encode()).diagnostics[0].position == here


@pytest.mark.parametrize(
    "content", [b"\x00\x01", b"\xff\xfe", b"a: \xc3", "a: \ud800", b"a: b\x00"]
)
def test_bytes_that_are_no_text_are_refused(content):
    refused(content)


def test_a_large_file_is_not_parsed():
    start = time.process_time()
    error = refused("a: [" + "[" * 2_000_000)
    assert time.process_time() - start < 0.5
    assert "2,000,004 bytes" in str(error)


def test_an_alias_bomb_is_refused_at_once():
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{b}: &{b} [{', '.join(['*' + a] * 10)}]\n"
        for a, b in zip("abcdefghi", "bcdefghij", strict=True)
    )
    start = time.process_time()
    assert "20,000 values" in str(refused(bomb))
    assert time.process_time() - start < 2.0


def test_a_plain_alias_stands_for_its_anchor():
    text = TINY + "norm: &n {eps: 1e-5}\nembedding: {norm: *n}\n"
    assert read(text).spec.embedding.norm.eps == 1e-5


@pytest.mark.parametrize("text", ["", "\n\n", "# x\n", "---\n", "---\n...\n", "\ufeff", " \t\n"])
def test_nothing_is_an_empty_spec(text):
    assert "empty" in str(refused(text))


def test_control_characters_are_found_where_they_stand():
    assert refused("specc: 1\nname: a\x07b\n").diagnostics[0].position == Position(2, 8)
    assert refused(TINY + 'title: "a\\u0000b"\n').diagnostics[0].position == Position(10, 8)


@pytest.mark.parametrize("mark", ["\u2028", "\u202e", "\u2066", "\x85", "\x7f", "\x1b"])
def test_marks_that_mislead_are_refused(mark):
    refused(TINY + f"title: 'a{mark}b'\n")
    if mark not in "\u2028\x85":
        refused(TINY + f'title: "a\\u{ord(mark):04x}b"\n')


@pytest.mark.parametrize(
    "title",
    [
        "say \"hi\" 'now'",
        "{{ braces }} {% raw %}",
        "back\\slash \\n",
        '"""',
        "日本語 🤖 é",
        "# not: a comment",
    ],
)
def test_text_stays_text(title):
    quoted = "'" + title.replace("'", "''") + "'"
    assert read(TINY + f"title: {quoted}\n").spec.title == title


def test_line_ends_in_text_become_spaces():
    assert read(TINY + 'title: "a\\nb\\tc \\r\\n d"\n').spec.title == "a b c d"
    assert read(TINY + "title: |\n  a\n  b\n").spec.title == "a b"


def test_a_long_text_is_refused():
    refused(TINY + f"title: {'x' * 2001}\n")

"""A family is data: no code names one. Papers may be cited in docstrings and comments.

Words are looked for in identifiers and in strings that are one word, which is what code compares
with; `llama3` is not among them, since it is the name of a formula for rotary frequencies.
"""

import ast
import re

import pytest

from tests.architecture.rooms import ROOT, TEMPLATES, docstrings, modules

FAMILIES = frozenset(
    [
        "albert",
        "bart",
        "bert",
        "bloom",
        "codegen",
        "cohere",
        "dbrx",
        "deberta",
        "deepseek",
        "distilbert",
        "electra",
        "esm",
        "falcon",
        "gemma",
        "gemma2",
        "gemma3",
        "gpt",
        "gpt2",
        "gpt3",
        "gptj",
        "gptneox",
        "granite",
        "internlm",
        "llama",
        "llama2",
        "longformer",
        "marian",
        "mbart",
        "minicpm",
        "mistral",
        "mixtral",
        "mpt",
        "nanogpt",
        "neox",
        "olmo",
        "olmo2",
        "pegasus",
        "persimmon",
        "phi3",
        "qwen",
        "qwen2",
        "qwen3",
        "roberta",
        "siglip",
        "smollm",
        "stablelm",
        "starcoder",
        "t5",
        "vaswani",
        "whisper",
        "xglm",
        "xlnet",
        "yi",
    ]
)
SPECS = frozenset(spec.stem for spec in (ROOT / "specs").glob("*.yaml"))


def words(identifier: str) -> set[str]:
    """The words of snake_case and CamelCase, and the whole."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", identifier).lower()
    return {identifier.lower(), snake, *snake.split("_")}


def named(tree: ast.AST) -> set[str]:
    prose = docstrings(tree)
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found |= words(name)
            case ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name)):
                found |= words(name)
            case ast.Constant(value=str(text)) if id(node) not in prose and text.isidentifier():
                found |= words(text)
            case _:
                continue
    return found


@pytest.mark.parametrize(
    "module", [m for m in modules() if m.room != "importers"], ids=lambda m: m.id
)
def test_code_names_no_family(module):
    assert named(module.tree) & (FAMILIES | SPECS) == set()


@pytest.mark.parametrize("template", sorted(TEMPLATES.rglob("*.jinja")), ids=lambda t: t.name)
def test_a_template_decides_nothing_by_family(template):
    code = re.findall(r"{[%{](.*?)[%}]}", template.read_text(encoding="utf-8"), re.DOTALL)
    found = {word for part in code for name in re.findall(r"\w+", part) for word in words(name)}
    assert found & (FAMILIES | SPECS) == set()


def test_the_search_finds_what_it_should():
    assert "gpt2" in named(ast.parse("if model.family == 'gpt2': pass"))
    assert "bert" in named(ast.parse("def load_bert(x): pass"))
    assert "bert" in named(ast.parse("class BertBlock: pass"))

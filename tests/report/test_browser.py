"""Pages in a real browser: they ask for nothing, answer questions, and can be read by everybody."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hypercondense.catalogue import condense
from hypercondense.comparing import compare
from hypercondense.data import synthetic
from hypercondense.hypergraph import split
from hypercondense.nn.training import Configuration
from hypercondense.report.measured import measure
from hypercondense.report.render import write_page
from hypercondense.report.result_page import result_page
from hypercondense.report.several import compare_page, tune_page
from makers.browser import Browser, started
from makers.results import HOSTILE, hostile_source, ranking, result_of_size

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tmp_path_factory.mktemp("profile")) as one:
        yield one


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One page of each kind, and one with all names that would do harm."""
    source = synthetic(num_nodes=150, num_hyperedges=90, num_features=6, num_classes=3, noise=2.0, seed=0)
    parts = split(source, seed=0)
    result = condense(source, parts, nodes=9, method="ahgcdd", settings={"goal.epochs": 5})
    measured = measure(result, source, parts, models=[Configuration(model="mlp", epochs=10)], runs=2)
    hostile = hostile_source()
    bad = condense(hostile, nodes=10, method="means")
    rows = compare(source, nodes=6, methods=["random", "whole"], models=["mlp"], seeds=1, runs=1)
    made = {
        "result": result_page(result, Path("small"), source=source, measured=measured),
        "hostile": result_page(bad, Path(HOSTILE[1]), source=hostile),
        "many": result_page(result_of_size(320, 300), Path("small"), missing=("the source is gone",)),
        "compare": compare_page(source, rows, metric="accuracy"),
        "tune": tune_page(source, ranking(), nodes=9),
    }
    folder = tmp_path_factory.mktemp("pages")
    for name, page in made.items():
        write_page(page, folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in made}


@pytest.mark.parametrize("name", ["result", "hostile", "many", "compare", "tune"])
def test_a_page_asks_for_nothing_and_complains_of_nothing(
    browser: Browser, pages: dict[str, Path], name: str
) -> None:
    browser.open(pages[name])
    asked = [url for url in browser.requests() if not url.startswith("data:,")]
    assert asked == [pages[name].as_uri()]
    assert browser.complaints() == []
    assert browser.run("return window.hacked") is None


def test_the_policy_of_a_page_lets_no_request_out(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["result"])
    browser.run(
        "window.refused = 0;"
        "document.addEventListener('securitypolicyviolation', () => window.refused++);"
        "const image = document.createElement('img'); image.src = 'file:///picture.png';"
        "document.body.append(image);"
        "const script = document.createElement('script'); script.textContent = 'window.hacked = 3';"
        "document.body.append(script)"
    )
    assert browser.driver.execute_async_script(
        "const done = arguments[0];"
        "const look = () => window.refused >= 2 ? done(true) : setTimeout(look, 20); look()"
    )
    assert browser.run("return window.hacked") is None


@pytest.mark.parametrize("name", ["result", "hostile", "many", "compare", "tune"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_contrast_labels_and_structure_are_right(
    browser: Browser, pages: dict[str, Path], name: str, dark: bool
) -> None:
    browser.open(pages[name], dark=dark)
    browser.run("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    assert browser.violations() == []


@pytest.mark.parametrize("name", ["result", "hostile", "many", "compare", "tune"])
def test_nothing_is_wider_than_a_phone(browser: Browser, pages: dict[str, Path], name: str) -> None:
    browser.open(pages[name], width=375)
    assert browser.run("return document.documentElement.scrollWidth") <= 375


def test_pointing_at_a_node_names_it_and_a_click_shows_what_it_was_made_of(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages["result"])
    browser.point_at(".node[data-place='2']")
    assert "condensed node 2" in browser.text(".tip")
    assert browser.run("return document.querySelector('.tip').hidden") is False
    browser.point_at(".node[data-place='2']", click=True)
    assert "condensed node 2" in browser.text(".told") and "was made of" in browser.text(".told")
    assert browser.run("return document.querySelectorAll('.ties circle').length") > 0
    assert browser.run("return document.querySelector('#map-node').value") == "2"
    assert browser.complaints() == []


def test_the_keyboard_chooses_nodes_and_classes(browser: Browser, pages: dict[str, Path]) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    browser.open(pages["result"])
    chosen = browser.driver.find_element(By.ID, "map-node")
    chosen.send_keys("1")
    assert "condensed node 1" in browser.text(".told")
    browser.driver.find_element(By.ID, "map-class").send_keys("2" + Keys.TAB)
    assert "class 2" in browser.text(".told")
    faded = "return [...document.querySelectorAll('.node')].filter(e => e.classList.contains('faded') === "
    assert browser.run(f"{faded}(e.dataset.class === '2')).length") == 0
    browser.choose("#map-class", "")
    assert browser.run("return document.querySelectorAll('.faded').length") == 0


def test_without_a_script_everything_is_there_and_controls_are_not(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(pages["result"])
        cdp = browser.driver.execute_cdp_cmd
        shown = cdp("DOM.getDocument", {"depth": 0})["root"]["nodeId"]

        def number(selector: str) -> int:
            return len(cdp("DOM.querySelectorAll", {"nodeId": shown, "selector": selector})["nodeIds"])

        assert number(".node") == 9 and number("form[hidden]") == 1 and number("table") > 5
    finally:
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_names_that_would_do_harm_stay_text_when_they_are_chosen(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages["hostile"])
    for place in range(10):
        browser.choose("#map-node", str(place))
    for label in range(len(HOSTILE)):
        browser.choose("#map-class", str(label))
    assert browser.run("return window.hacked") is None
    assert browser.complaints() == []

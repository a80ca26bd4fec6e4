"""Every pin of a generated file can be set, is read back, and set back, with all other bytes as they were."""

import json

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from pins.files.dockerfile.syntax import split_dockerfile
from pins.files.read import read_pins
from tests.files.generated_dockerfiles import dockerfiles
from tests.files.round_trip import round_trip, values_for


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=dockerfiles(), choose=st.data())
def test_every_pin_of_a_generated_file_goes_there_and_back(data: bytes, choose: st.DataObject) -> None:
    pins = [pin for pin in read_pins(data, "Dockerfile").pins if pin.places]
    event(f"{min(len(pins) // 5 * 5, 20)} pins or more")
    for pin in pins:
        value = choose.draw(st.sampled_from(values_for(pin)))
        failed = round_trip("Dockerfile", data, pin, value)
        assert failed is None or _as_it_must_be(failed.what, failed.detail, value), (failed, pin)


def _as_it_must_be(what: str, detail: str, value: str) -> bool:
    """A place in single quotes of a script in single quotes holds no further ones, and a tag no image."""
    return what == "refused" and "single quotes" in detail and "'" in value


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=dockerfiles())
def test_every_value_stands_in_its_span(data: bytes) -> None:
    found = read_pins(data, "Dockerfile")
    assert found.complete, (found.problems, data)
    assert all(i.keyword.isalpha() for i in split_dockerfile(data).instructions)
    for pin in found.pins:
        for place in pin.places:
            written = data[place.start : place.end].decode("utf-8", "surrogateescape")
            assert place.line == data.count(b"\n", 0, place.start) + 1
            if pin.value is not None and "\\" not in written:
                assert written.strip("\"'") == pin.value or json.dumps(pin.value) == f'"{written}"', (pin, written)

"""What is recorded of a machine: its accelerators as the kernel tells of them."""

from pathlib import Path

from bisector.host import host_facts


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_nvidia_devices_as_the_kernel_module_tells(tmp_path: Path) -> None:
    version = (
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.03  Release Build\nGCC version:  gcc 13\n"
    )
    _write(tmp_path / "proc/driver/nvidia/version", version)
    for bus in ("0000:01:00.0", "0000:02:00.0"):
        _write(tmp_path / f"proc/driver/nvidia/gpus/{bus}/information", "Model: \t\t NVIDIA H200\nIRQ:   \t\t 16\n")
    facts = host_facts(tmp_path)
    assert facts["NVIDIA devices"] == "2 x NVIDIA H200"
    assert facts["NVIDIA driver"] == "580.159.03"


def test_amd_devices_as_the_topology_tells(tmp_path: Path) -> None:
    nodes = tmp_path / "sys/class/kfd/kfd/topology/nodes"
    for node, target in enumerate((0, 90402, 90402, 120001, 90010)):
        _write(nodes / f"{node}/properties", f"cpu_cores_count 0\ngfx_target_version {target}\nvendor_id 4098\n")
    _write(tmp_path / "sys/module/amdgpu/version", "6.14.14\n")
    facts = host_facts(tmp_path)
    assert facts["AMD devices"] == "2 x gfx942, 1 x gfx1201, 1 x gfx90a"
    assert facts["AMD driver"] == "6.14.14"


def test_a_machine_without_accelerators_says_nothing_of_them(tmp_path: Path) -> None:
    assert not [label for label in host_facts(tmp_path) if "devices" in label or "driver" in label]

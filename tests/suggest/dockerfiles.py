"""A file like the ROCm bases of vLLM, and what an index would have."""

DOCKERFILE = """\
ARG TRITON_BRANCH="f0b55c0"
FROM ubuntu:22.04 AS base
RUN pip install -U packaging 'cmake<4' ninja 'setuptools<80' pybind11 Cython

FROM base AS build_triton
ARG TRITON_BRANCH
RUN git clone https://github.com/ROCm/triton.git \\
    && cd triton && git checkout ${TRITON_BRANCH} \\
    && python3 setup.py bdist_wheel --dist-dir=dist

FROM ubuntu:22.04 AS docs
RUN pip install pybind11 sphinx

FROM base AS final
RUN --mount=type=bind,from=build_triton,src=/triton/dist,target=/install pip install /install/*.whl
"""
RELEASES = {"pybind11": ["2.13.6", "3.0.0", "3.0.1", "3.0.2", "3.0.3", "3.0.4", "3.1.0"]}

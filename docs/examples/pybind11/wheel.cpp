// A wheel as a project ships it: compiled once, against the pybind11 of that day, and taken as it is ever after.
#include <pybind11/pybind11.h>

struct Tensor {
    long numel;
};

PYBIND11_MODULE(tensor_wheel, module) {
    pybind11::class_<Tensor>(module, "Tensor").def(pybind11::init([](long numel) { return Tensor{numel}; }));
}

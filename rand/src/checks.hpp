// What every entry point of trnrand checks about its output and its generator.
#pragma once

#include <trn/core/error.hpp>
#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

// An output after its entry point: at least one element, none of them shared.
struct Output {
  void* data = nullptr;
  DType dtype = DType::Float32;
  Shape shape;
  Strides strides;
};

// Throws InvalidArgument that names `operation` when an element of out would be written twice or cannot be reached, or
// when a device's output is not contiguous. An empty output passes.
void check_output(const char* operation, const Executor& executor, const Executor& owner, const Output& out);

template <class T> Output checked_output(const char* operation, const Executor& executor, const View<T>& view) {
  Output out{view.data(), dtype_of<T>, view.shape(), view.strides()};
  check_output(operation, executor, view.executor(), out);
  return out;
}

// Throws NotImplemented for algorithms whose elements have no words of their own (element_words.hpp).
void check_element_words(const char* operation, const State& state);

// A parameter must be a finite number in the type of the values.
void check_finite(const char* operation, const char* what, double value, DType dtype);

}  // namespace trn::rand

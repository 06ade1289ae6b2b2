// A program that has trnsci as a part of its project. It links the core alone, in C++20 because the library asks for
// it: an array, the views of it, a copy that is transposed on the way, and a mistake that is said in one line.
#include <concepts>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>

namespace {

// Takes whatever converts to a view: arrays, matrices, views.
template <std::floating_point T> T sum(const trn::View<const T>& x) {
  return std::accumulate(x.data(), x.data() + x.size(), T(0));
}

std::string refusal(const trn::Executor& exec) {
  try {
    const std::vector<float> five(5);
    (void)trn::Matrix<float>::from_host(exec, 2, 3, five);
  } catch (const trn::InvalidArgument& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace

int main() {
  const trn::Executor exec = trn::Executor::host();
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const auto a = trn::Matrix<float>::from_host(exec, 2, 3, values);
  const trn::Matrix<float> transposed(exec, 3, 2);
  trn::copy(trn::View<const float>(a.view().transposed()), trn::View<float>(transposed));
  std::printf("%s: %g, %g %g\n", exec.name().c_str(), sum<float>(a), transposed.to_host()[1], transposed.to_host()[4]);
  std::printf("%s\n", refusal(exec).c_str());
}

// `trnsci fuzz tensor`: random einsums (random_case.hpp) against long double within the bounds they return.
#include <fmt/core.h>

#include "fuzz_driver.hpp"
#include "random_case.hpp"

namespace trn::tools::fuzz {

void add_fuzz_tensor(Command& parent) {
  Command command = parent.add("tensor", "random einsums against long double");
  auto span = std::make_shared<Span>();
  auto most = std::make_shared<double>(4000);
  auto where = std::make_shared<std::string>("host");
  add_span(command, *span);
  command.real("--products", *most, "products of a case at most", 1, 1e9);
  command.text("--exec", *where, "where they run; devices take the types of 16 and 32 bits");
  command.run([span, most, where] {
    const Executor executor = Executor::open(*where);
    tensor::testing::RandomOptions options{.most_operands = 6, .most_labels = 7, .most_products = *most};
    if (executor.family() == Family::Device)
      options.types = {DType::Float32, DType::Complex64, DType::BFloat16, DType::Float16};
    const std::string again = fmt::format("trnsci fuzz tensor --products {} --exec {}", *most, *where);
    drive(*span, again, [&](std::uint64_t seed, Current& current) {
      tensor::testing::RandomCase r = tensor::testing::RandomMaker(seed, options).make();
      current.operation = fmt::format("einsum of {}", r.operands.size());
      current.what = r.what;
      if (const auto wrong = tensor::testing::violation(r, nullptr, executor)) throw Finding{*wrong};
    });
  });
}

}  // namespace trn::tools::fuzz

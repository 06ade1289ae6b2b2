// `trnsci fuzz tensor`: random einsums (random_case.hpp) against long double within the bounds they return.
#include <fmt/core.h>

#include "fuzz_driver.hpp"
#include "random_case.hpp"

namespace trn::tools::fuzz {

void add_fuzz_tensor(Command& parent) {
  Command command = parent.add("tensor", "random einsums on the host against long double");
  auto span = std::make_shared<Span>();
  auto most = std::make_shared<double>(4000);
  add_span(command, *span);
  command.real("--products", *most, "products of a case at most", 1, 1e9);
  command.run([span, most] {
    drive(*span, fmt::format("trnsci fuzz tensor --products {}", *most), [&](std::uint64_t seed, Current& current) {
      tensor::testing::RandomCase r =
          tensor::testing::RandomMaker(seed, {.most_operands = 6, .most_labels = 7, .most_products = *most}).make();
      current.operation = fmt::format("einsum of {}", r.operands.size());
      current.what = r.what;
      if (const auto wrong = tensor::testing::violation(r)) throw Finding{*wrong};
    });
  });
}

}  // namespace trn::tools::fuzz

// `trnsci fuzz tensor`: random einsums (random_case.hpp) against long double within the bounds they return.
#include <fmt/core.h>

#include <trn/core/error.hpp>

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
  auto precision = std::make_shared<std::string>("native");
  command.text("--exec", *where, "where they run; devices take the types of 16 and 32 bits, in exact all");
  command.text("--precision", *precision, "a mode of the contractions; others than native take float32 and complex64")
      .completes({"native", "tf32", "bf16", "tf32x3", "bf16x6", "exact"});
  command.run([span, most, where, precision] {
    const Executor executor = Executor::open(*where);
    tensor::testing::RandomOptions options{.most_operands = 6, .most_labels = 7, .most_products = *most};
    if (executor.family() == Family::Device)
      options.types = {DType::Float32, DType::Complex64, DType::BFloat16, DType::Float16};
    const Precision asked = Precision::parse(*precision);
    require(!asked.has_target(), "fuzz tensor: --precision {}: give a mode", *precision);
    const Mode mode = asked.mode();
    if (mode == Mode::Exact)
      options.types = {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};
    else if (mode != Mode::Native)
      options.types = {DType::Float32, DType::Complex64};
    const std::string again =
        fmt::format("trnsci fuzz tensor --products {} --exec {} --precision {}", *most, *where, *precision);
    drive(*span, again, [&](std::uint64_t seed, Current& current) {
      tensor::testing::RandomCase r = tensor::testing::RandomMaker(seed, options).make();
      current.operation = fmt::format("einsum of {}", r.operands.size());
      current.what = r.what;
      try {
        if (const auto wrong = tensor::testing::violation(r, nullptr, executor, mode)) throw Finding{*wrong};
      } catch (const NotImplemented&) {  // float64 that is summed out of one operand has no device kernel
        if (mode != Mode::Exact || executor.family() == Family::Host) throw;
        current.operation = "einsum without a device kernel";
      }
    });
  });
}

}  // namespace trn::tools::fuzz

// `trnsci fuzz tensor`: random einsums (random_case.hpp) against long double within the bounds they return.
//
// Each case runs twice, and the bits must agree: on the host with one thread and with 2 to 5, on a simulator in program
// order and in a shuffled one. What runs in Exact on a device must have the host's bits. The last line says what part
// of its bound the worst element of the median case reaches.
#include <omp.h>

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include <trn/core/error.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/device.hpp>

#include "fuzz_driver.hpp"
#include "output.hpp"
#include "random_case.hpp"

namespace trn::tools::fuzz {
namespace {

// Runs a case with a number of threads: D's memory afterwards, or a finding. `used`: the part of its bound that the
// worst element reaches.
std::vector<std::byte> bytes_of(std::uint64_t seed, const tensor::testing::RandomOptions& options,
                                const Executor& executor, Mode mode, int threads, double* used = nullptr) {
  tensor::testing::RandomCase r = tensor::testing::RandomMaker(seed, options).make();
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  const auto wrong = tensor::testing::violation(r, used, executor, mode);
  omp_set_num_threads(before);
  if (wrong) throw Finding{*wrong};
  return r.d.bytes;
}

}  // namespace

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
    const bool device = executor.family() == Family::Device, simulated = where->starts_with("sim:");
    std::vector<double> used;
    drive(*span, again, [&](std::uint64_t seed, Current& current) {
      const tensor::testing::RandomCase r = tensor::testing::RandomMaker(seed, options).make();
      current.operation = fmt::format("einsum of {}", r.operands.size());
      current.what = r.what;
      try {
        double worst = 0;
        const auto bytes = bytes_of(seed, options, executor, mode, 1, &worst);
        if (worst > 0) used.push_back(worst);
        if (!device && bytes_of(seed, options, executor, mode, 2 + static_cast<int>(seed % 4)) != bytes)
          throw Finding{"other bits with more threads"};
        if (simulated) {
          const Executor shuffled = neuron::open_simulator(tile::device_of(executor).machine().name,
                                                           {.order = neuron::Order::shuffled(seed)});
          if (bytes_of(seed, options, shuffled, mode, 1) != bytes) throw Finding{"other bits in a shuffled order"};
        }
        if (device && mode == Mode::Exact && bytes_of(seed, options, Executor::host(), mode, 1) != bytes)
          throw Finding{"Exact with other bits than on the host"};
      } catch (const NotImplemented&) {  // float64 that is summed out of one operand has no device kernel
        if (mode != Mode::Exact || !device) throw;
        current.operation = "einsum without a device kernel";
      }
    });
    if (used.empty()) return;
    std::nth_element(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(used.size() / 2), used.end());
    say("errors: the worst element of the median case reaches {:.3g} of its bound, of the worst case {:.3g}",
        used[used.size() / 2], *std::max_element(used.begin(), used.end()));
  });
}

}  // namespace trn::tools::fuzz

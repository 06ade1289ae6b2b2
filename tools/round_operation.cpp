// blas.round for the command line: floats stored in 16 or 8 bits, to nearest or stochastically. Random operands; the
// error is the largest in units of its bound.
#include "round_operation.hpp"

#include <cmath>
#include <random>
#include <trn/blas/counts.hpp>
#include <trn/blas/narrow.hpp>
#include <trn/blas/narrow_program.hpp>
#include <trn/core/array.hpp>

#include "program_bench.hpp"

namespace trn::tools {

namespace {

// f(T{}) for a narrow type.
template <class F> auto with_narrow(DType dtype, F f) {
  switch (dtype) {
    case DType::BFloat16:
      return f(bfloat16{});
    case DType::Float16:
      return f(float16{});
    case DType::Float8E4M3:
      return f(float8_e4m3{});
    case DType::Float8E4M3FN:
      return f(float8_e4m3fn{});
    case DType::Float8E5M2:
      return f(float8_e5m2{});
    default:
      fail<InvalidArgument>("bench: blas.round does not store {}; choose bf16, fp16 or an 8-bit float",
                            trn::name(dtype));
  }
}

class Round final : public ProgramBench {
 public:
  std::string name() const override { return "blas.round"; }
  std::string summary() const override { return "floats stored in 16 or 8 bits, rounded to nearest or at random"; }
  std::string rate_unit() const override { return "Gnumbers/s"; }
  std::string error_note() const override {
    return "largest |x - y| in units of its bound, one unit of y (nearest: half)";
  }
  void add_options(Options& options) override {
    options.number("--n", n_, "numbers", 1, std::int64_t{1} << 32);
    options.text("--dtype", dtype_, "of the result: bf16, fp16, fp8_e4m3, fp8_e5m2, fp8_e4m3fn (devices: trn3)")
        .completes({"bf16", "fp16", "fp8_e4m3", "fp8_e5m2", "fp8_e4m3fn"});
    options.text("--rounding", rounding_, "how", {"stochastic", "nearest"});
    options.number("--seed", seed_, "of stochastic rounding", 0, std::int64_t{1} << 62);
  }
  tile::Program program(const tile::Machine& machine) const override {
    with_narrow(dtype(), [](auto) { return 0; });
    return blas::narrow_program({.y = dtype(), .n = n_, .stochastic = stochastic()}, machine);
  }

 private:
  DType dtype() const override { return parse_dtype(dtype_); }
  bool stochastic() const { return rounding_ == "stochastic"; }
  std::string precision(const Executor&) const override { return rounding_; }
  BenchShape extents() const override { return {{"n", n_}}; }
  double work() const override { return static_cast<double>(n_); }
  // Numbers that the DMA rings can bring in and take away.
  double device_peak(const tile::Machine& machine) const override {
    return machine.hbm_bytes_per_s_per_core /
           blas::counts::quantized_bytes(32, 8 * static_cast<double>(size_bytes(dtype())));
  }

  Measured run(const Executor& e, int repeats, BenchRow& row) const override {
    return with_narrow(dtype(), [&](auto type) {
      using T = decltype(type);
      std::mt19937_64 engine(1);
      std::uniform_real_distribution<float> uniform(1, 8);  // no subnormal number of any type
      std::vector<float> x(static_cast<std::size_t>(n_));
      for (float& v : x) v = uniform(engine);
      const auto from = Array<float>::from_host(e, {n_}, x);
      const Array<T> to(e, {n_});
      const Rounding rounding =
          stochastic() ? Rounding(Rounding::Stochastic{static_cast<std::uint64_t>(seed_)}) : Rounding();
      const Measured measured = measure(e, repeats, [&] {
        blas::copy(e, VectorView<const float>(e, from.data(), n_, 1), VectorView<T>(e, to.data(), n_, 1), rounding);
      });
      const auto y = to.to_host();
      const double unit = 2 * unit_roundoff(dtype()) / (stochastic() ? 1 : 2);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double off = std::abs(static_cast<double>(x[i]) - static_cast<double>(static_cast<float>(y[i])));
        row.error = std::max(row.error.value_or(0), off / std::ldexp(unit, std::ilogb(x[i])));
      }
      row.bound = 1;
      return measured;
    });
  }

  std::int64_t n_ = 1 << 20, seed_ = 0;
  std::string dtype_ = "bf16", rounding_ = "stochastic";
};

}  // namespace

std::unique_ptr<Operation> round_operation() { return std::make_unique<Round>(); }

}  // namespace trn::tools

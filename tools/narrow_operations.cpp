// Products of narrow operands and the quantisations before them, for the command line: blas.scaled_gemm, blas.quantize,
// blas.mx_gemm, blas.mx_quantize. Random operands; the error of a product is against its narrow operands in double,
// that of a quantisation the largest in units of its bound.
#include <cmath>
#include <optional>
#include <random>
#include <trn/blas/counts.hpp>
#include <trn/blas/mx_program.hpp>
#include <trn/blas/quantize.hpp>
#include <trn/blas/scaled_gemm_program.hpp>
#include <trn/core/array.hpp>

#include "program_bench.hpp"
#include "recording_device.hpp"
#include "round_operation.hpp"

namespace trn::tools {

namespace {

constexpr std::int64_t kExtentMax = std::int64_t{1} << 20;

std::vector<float> random(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> v(static_cast<std::size_t>(count));
  for (float& x : v) x = normal(engine);
  return v;
}

// max |C - A B^T| / (|A||B|^T) over a sample; A m x k, B n x k, both as floats.
double product_error(std::int64_t m, std::int64_t n, std::int64_t k, const std::vector<float>& a,
                     const std::vector<float>& b, const std::vector<float>& c) {
  double worst = 0;
  const std::int64_t step = std::max<std::int64_t>(1, m * n / 2000) | 1;
  for (std::int64_t at = 0; at < m * n; at += step) {
    double sum = 0, size = 0;
    for (std::int64_t p = 0; p < k; ++p) {
      const double term = static_cast<double>(a[static_cast<std::size_t>(at / n * k + p)]) *
                          b[static_cast<std::size_t>(at % n * k + p)];
      sum += term, size += std::abs(term);
    }
    const double error = std::abs(c[static_cast<std::size_t>(at)] - sum);
    if (error > 0) worst = std::max(worst, error / size);
  }
  return worst;
}

class Narrow : public ProgramBench {
 protected:
  double work() const override {
    return blas::counts::gemm(static_cast<double>(m_), static_cast<double>(n_), static_cast<double>(k_)).flops;
  }
  void add_extents(Options& options) {
    options.number("--m", m_, "rows of C", 1, kExtentMax);
    options.number("--n", n_, "columns of C", 1, kExtentMax);
    options.number("--k", k_, "inner dimension", 1, kExtentMax);
  }
  BenchShape extents() const override { return {{"m", m_}, {"n", n_}, {"k", k_}}; }

  std::int64_t m_ = 1024, n_ = 1024, k_ = 1024;
};

// Groups of scales by the name of --scales.
std::int64_t groups(const std::string& scales, std::int64_t k) {
  return scales == "blocks" ? (k + blas::kScaleBlock - 1) / blas::kScaleBlock : 1;
}

// f(T{}) for the 8-bit type of that name.
template <class F> auto with_float8(DType dtype, F f) {
  switch (dtype) {
    case DType::Float8E4M3:
      return f(float8_e4m3{});
    case DType::Float8E4M3FN:
      return f(float8_e4m3fn{});
    case DType::Float8E5M2:
      return f(float8_e5m2{});
    default:
      fail<InvalidArgument>("bench: {} is not an 8-bit float; choose fp8_e4m3, fp8_e4m3fn or fp8_e5m2", name(dtype));
  }
}

DType float8_of(const std::string& name) {
  const DType dtype = parse_dtype(name);
  with_float8(dtype, [](auto) {});
  return dtype;
}

// rows x k random numbers in 8 bits.
template <class T> class Quantized {
 public:
  Quantized(const Executor& e, std::int64_t rows, std::int64_t k, const std::string& scales, std::uint64_t seed)
      : rows_(rows),
        k_(k),
        scale_rows_(scales == "tensor" ? 1 : rows),
        scale_columns_(groups(scales, k)),
        x_(Array<float>::from_host(e, {rows, k}, random(rows * k, seed))),
        values_(e, {rows, k}),
        scales_(e, {scale_rows_, scale_columns_}) {}

  void make() {
    const Executor& e = x_.executor();
    blas::quantize(e, MatrixView<const float>::row_major(e, x_.data(), rows_, k_),
                   MatrixView<T>::row_major(e, values_.data(), rows_, k_),
                   MatrixView<float>::row_major(e, scales_.data(), scale_rows_, scale_columns_));
  }
  MatrixView<const T> values() const {
    return MatrixView<const T>::row_major(x_.executor(), values_.data(), rows_, k_);
  }
  // One row for each row of the matrix, or one for all.
  MatrixView<const float> scales() const {
    return MatrixView<const float>::row_major(x_.executor(), scales_.data(), scale_rows_, scale_columns_);
  }
  // The scale of each number, and the numbers times their scales.
  std::vector<float> scale_of_each() const {
    const auto s = scales_.to_host();
    std::vector<float> all;
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t p = 0; p < k_; ++p)
        all.push_back(s[static_cast<std::size_t>((scale_rows_ == 1 ? 0 : i) * scale_columns_ +
                                                 (scale_columns_ == 1 ? 0 : p / blas::kScaleBlock))]);
    }
    return all;
  }
  std::vector<float> widened() const {
    std::vector<float> all = scale_of_each();
    const auto codes = values_.to_host();
    for (std::size_t i = 0; i < all.size(); ++i) all[i] *= static_cast<float>(codes[i]);
    return all;
  }

 private:
  std::int64_t rows_, k_, scale_rows_, scale_columns_;
  Array<float> x_;
  Array<T> values_;
  Array<float> scales_;
};

class ScaledGemm final : public Narrow {
 public:
  std::string name() const override { return "blas.scaled_gemm"; }
  std::string summary() const override { return "C = A B^T of 8-bit floats with scales, all rows along k"; }
  void add_options(Options& options) override {
    add_extents(options);
    options.text("--dtype", dtype_, "fp8_e4m3, fp8_e5m2, fp8_e4m3fn (devices: trn3)")
        .completes({"fp8_e4m3", "fp8_e5m2", "fp8_e4m3fn"});
    options.text("--scales", scales_, "one scale for a matrix, each row, or each 128 of a row",
                 {"tensor", "rows", "blocks"});
  }
  // Scales of blocks are powers of two, as quantize makes them: the call reads them and runs three programs.
  Programs programs(const tile::Machine& machine) const override {
    if (scales_ != "blocks") return Operation::programs(machine);
    return recorded_programs(machine, [&](const Executor& e) {
      with_float8(dtype(), [&](auto type) {
        using T = decltype(type);
        const std::int64_t count = groups(scales_, k_);
        const Array<T> a(e, {m_, k_}), b(e, {n_, k_});
        const auto ones = [&](std::int64_t rows) {
          return Array<float>::from_host(e, {rows, count},
                                         std::vector<float>(static_cast<std::size_t>(rows * count), 1));
        };
        const Array<float> sa = ones(m_), sb = ones(n_), c(e, {m_, n_});
        blas::ScaledOptions options;
        options.scale_a = MatrixView<const float>::row_major(e, sa.data(), m_, count);
        options.scale_b = MatrixView<const float>::row_major(e, sb.data(), n_, count).transposed();
        blas::scaled_gemm(e, blas::Op::N, blas::Op::T, 1, MatrixView<const T>::row_major(e, a.data(), m_, k_),
                          MatrixView<const T>::row_major(e, b.data(), n_, k_), 0,
                          MatrixView<float>::row_major(e, c.data(), m_, n_), options);
      });
    });
  }
  tile::Program program(const tile::Machine& machine) const override {
    blas::ScaledShape s{dtype(), dtype(), DType::Float32, m_, n_, k_, k_, 1, 1, k_, n_, 1};
    const std::int64_t count = groups(scales_, k_);
    s.blocks = count > 1;
    s.a_row = s.b_column = scales_ == "tensor" ? 0 : count;
    s.a_block = s.b_block = s.blocks ? 1 : 0;
    return blas::scaled_gemm_program(s, machine);
  }

 private:
  DType dtype() const override { return float8_of(dtype_); }
  double device_peak(const tile::Machine& machine) const override { return machine.tensor_flops(dtype()); }

  Measured run(const Executor& e, int repeats, BenchRow& row) const override {
    return with_float8(dtype(), [&](auto type) {
      using T = decltype(type);
      Quantized<T> a(e, m_, k_, scales_, 1), b(e, n_, k_, scales_, 2);
      {
        const PurposeScope before(Purpose::WarmUp);
        a.make(), b.make();
      }
      const Array<float> c(e, {m_, n_});
      blas::ScaledOptions options;
      options.scale_a = a.scales(), options.scale_b = b.scales().transposed();
      Accuracy accuracy;
      const Measured measured = measure(e, repeats, [&] {
        accuracy = blas::scaled_gemm(e, blas::Op::N, blas::Op::T, 1, a.values(), b.values(), 0,
                                     MatrixView<float>::row_major(e, c.data(), m_, n_), options);
      });
      row.error = product_error(m_, n_, k_, a.widened(), b.widened(), c.to_host());
      row.bound = accuracy.bound;
      return measured;
    });
  }

  std::string dtype_ = "fp8_e4m3", scales_ = "rows";
};

blas::MxType mx_type(const std::string& name) {
  return name == "fp4_e2m1fn" ? blas::MxType::Float4E2M1FN
         : name == "fp8_e5m2" ? blas::MxType::Float8E5M2
                              : blas::MxType::Float8E4M3FN;
}

std::vector<bfloat16> narrowed(const std::vector<float>& x) {
  std::vector<bfloat16> y;
  for (const float v : x) y.emplace_back(v);
  return y;
}

class MxGemm final : public Narrow {
 public:
  std::string name() const override { return "blas.mx_gemm"; }
  std::string summary() const override { return "C = A B^T of microscaling matrices (devices: trn3)"; }
  std::vector<std::string> default_executors() const override { return {"host", "sim:trn3"}; }
  void add_options(Options& options) override {
    add_extents(options);
    options.text("--format", format_, "of both operands", {"fp8_e4m3fn", "fp8_e5m2", "fp4_e2m1fn"});
  }
  tile::Program program(const tile::Machine& machine) const override {
    return blas::mx_gemm_program({mx_type(format_), mx_type(format_), DType::Float32, m_, n_, k_, n_, 1}, machine);
  }

 private:
  std::string precision(const Executor&) const override { return format_; }
  double device_peak(const tile::Machine& machine) const override { return machine.mx_flops(); }

  Measured run(const Executor& e, int repeats, BenchRow& row) const override {
    const Executor host = Executor::host();
    const auto made = [&](std::int64_t rows, std::uint64_t seed) {
      const auto x = narrowed(random(rows * k_, seed));
      return blas::mx_quantize(host, MatrixView<const bfloat16>::row_major(host, x.data(), rows, k_), mx_type(format_));
    };
    const blas::MxMatrix a = made(m_, 1), b = made(n_, 2), da = a.on(e), db = b.on(e);
    const Array<float> c(e, {m_, n_});
    Accuracy accuracy;
    const Measured measured = measure(e, repeats, [&] {
      accuracy = blas::mx_gemm(e, 1, da, db, 0, MatrixView<float>::row_major(e, c.data(), m_, n_));
    });
    row.error = product_error(m_, n_, k_, a.to_host(), b.to_host(), c.to_host());
    row.bound = accuracy.bound;
    return measured;
  }

  std::string format_ = "fp8_e4m3fn";
};

// m rows of k numbers. Counts numbers, not operations.
class Quantization : public Narrow {
 public:
  std::string rate_unit() const override { return "Gnumbers/s"; }
  std::string error_note() const override { return "largest |x - scale q| in units of max(u |x|, scale eta / 2)"; }

 protected:
  void add_rows(Options& options) {
    options.number("--m", m_, "rows", 1, kExtentMax);
    options.number("--k", k_, "numbers in a row", 1, kExtentMax);
  }
  BenchShape extents() const override { return {{"m", m_}, {"k", k_}}; }
  double work() const override { return static_cast<double>(m_) * static_cast<double>(k_); }
  // Numbers that the DMA rings can bring in and take away.
  virtual double bytes_of_a_number() const = 0;
  double device_peak(const tile::Machine& machine) const override {
    return machine.hbm_bytes_per_s_per_core / bytes_of_a_number();
  }
};

class Quantize final : public Quantization {
 public:
  std::string name() const override { return "blas.quantize"; }
  std::string summary() const override { return "floats as 8-bit floats with scales"; }
  void add_options(Options& options) override {
    add_rows(options);
    options.text("--dtype", dtype_, "fp8_e4m3, fp8_e5m2, fp8_e4m3fn (devices: trn3)")
        .completes({"fp8_e4m3", "fp8_e5m2", "fp8_e4m3fn"});
    options.text("--scales", scales_, "one scale for a matrix, each row, or each 128 of a row",
                 {"tensor", "rows", "blocks"});
  }
  tile::Program program(const tile::Machine& machine) const override {
    const std::int64_t count = groups(scales_, k_);
    return blas::quantize_program({dtype(), m_, k_, k_, 1, k_, 1, scales_ == "tensor" ? 0 : count, count > 1 ? 1 : 0},
                                  machine);
  }

 private:
  DType dtype() const override { return float8_of(dtype_); }
  double bytes_of_a_number() const override { return blas::counts::quantized_bytes(32, 8); }

  Measured run(const Executor& e, int repeats, BenchRow& row) const override {
    return with_float8(dtype(), [&](auto type) {
      using T = decltype(type);
      Quantized<T> q(e, m_, k_, scales_, 1);
      const Measured measured = measure(e, repeats, [&] { q.make(); });
      const auto x = random(m_ * k_, 1), s = q.scale_of_each(), y = q.widened();
      const blas::Float8Limits limits = blas::float8_limits(dtype());
      double worst = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double v = x[i], bound = std::max(limits.roundoff * std::abs(v), s[i] * limits.smallest / 2);
        worst = std::max(worst, std::abs(v - y[i]) / bound);
      }
      row.error = worst, row.bound = 1;
      return measured;
    });
  }

  std::string dtype_ = "fp8_e4m3", scales_ = "rows";
};

class MxQuantize final : public Quantization {
 public:
  std::string name() const override { return "blas.mx_quantize"; }
  std::string summary() const override { return "bfloat16 as microscaling matrices (devices: trn3, 8 bits)"; }
  std::vector<std::string> default_executors() const override { return {"host", "sim:trn3"}; }
  void add_options(Options& options) override {
    add_rows(options);
    options.text("--format", format_, "of the result", {"fp8_e4m3fn", "fp8_e5m2", "fp4_e2m1fn"});
  }
  tile::Program program(const tile::Machine& machine) const override {
    return blas::mx_quantize_program({mx_type(format_), DType::BFloat16, m_, k_, k_, 1}, machine);
  }

 private:
  DType dtype() const override { return DType::BFloat16; }
  std::string precision(const Executor&) const override { return format_; }
  double bytes_of_a_number() const override {
    return blas::counts::quantized_bytes(16, mx_type(format_) == blas::MxType::Float4E2M1FN ? 4 : 8);
  }

  Measured run(const Executor& e, int repeats, BenchRow& row) const override {
    const auto x = narrowed(random(m_ * k_, 1));
    const auto dx = Array<bfloat16>::from_host(e, {m_, k_}, x);
    std::optional<blas::MxMatrix> q;
    const Measured measured = measure(e, repeats, [&] {
      q = blas::mx_quantize(e, MatrixView<const bfloat16>::row_major(e, dx.data(), m_, k_), mx_type(format_));
    });
    const auto values = q->to_host();
    const auto scales = q->scales().to_host();
    const blas::MxType type = mx_type(format_);
    const double u = type == blas::MxType::Float8E4M3FN ? 0x1p-4
                     : type == blas::MxType::Float8E5M2 ? 0x1p-3
                                                        : 0x1p-2,
                 eta = type == blas::MxType::Float8E4M3FN ? 0x1p-9
                       : type == blas::MxType::Float8E5M2 ? 0x1p-16
                                                          : 0.5;
    double worst = 0;
    for (std::int64_t i = 0; i < m_ * k_; ++i) {
      const double v = static_cast<float>(x[static_cast<std::size_t>(i)]);
      const int s = scales[static_cast<std::size_t>(i % k_ / blas::kMxGroup * q->padded_rows() + i / k_)];
      worst = std::max(worst, std::abs(v - values[static_cast<std::size_t>(i)]) /
                                  std::max(u * std::abs(v), std::ldexp(eta / 2, s - 127)));
    }
    row.error = worst, row.bound = 1;
    return measured;
  }

  std::string format_ = "fp8_e4m3fn";
};

}  // namespace

std::vector<std::unique_ptr<Operation>> narrow_operations() {
  std::vector<std::unique_ptr<Operation>> all;
  all.push_back(std::make_unique<ScaledGemm>());
  all.push_back(std::make_unique<Quantize>());
  all.push_back(std::make_unique<MxGemm>());
  all.push_back(std::make_unique<MxQuantize>());
  all.push_back(round_operation());
  return all;
}

}  // namespace trn::tools

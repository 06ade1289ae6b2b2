// Products in 8 and 4 bits: what gemm's quantised modes promise and keep, and what sums of several 8-bit words in place
// of wider products reach and cost.
//
// A float matrix is the sum of w matrices of float8_e4m3 with a scale for each row, every word what the ones before it
// leave: x = s1 q1 + s2 q2 + ..., five more bits a word. Of the w^2 products of words those with i + j < w count (words
// from 0), w (w + 1) / 2 of them, added up in C from the smallest on. Against them stand the modes of gemm. Errors are
// measured, relative in the Frobenius norm; those of the words are the same on every executor. Times are modelled on
// trn2 at 4096 x 4096 x 4096: those of the words have products and quantisation, not the subtractions between words.
//
// What is checked: the quantised modes keep their bounds; each word makes the error at least five times smaller until
// float's own roundings show; and the statement of blas/README.md: two words and more lose, some mode of gemm is as
// accurate and no slower, or the words take longer than all modes.
//
//   56_float8_words [--exec NAME] [--n 256]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include <trn/blas/gemm_program.hpp>
#include <trn/blas/quantize.hpp>
#include <trn/blas/quantized_gemm.hpp>
#include <trn/blas/scaled_gemm_program.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/trn.hpp>

#include "arguments.hpp"

namespace {

using trn::Array, trn::Executor, trn::MatrixView, trn::Mode, trn::float8_e4m3;
namespace blas = trn::blas;

constexpr int kWords = 6;

struct Word {
  Array<float8_e4m3> codes;
  Array<float> scales;  // of rows
};

// The words of an n x n matrix. What a word leaves is exact in float: it has the bits of x below the word's.
std::vector<Word> words_of(const Executor& e, std::vector<float> x, std::int64_t n) {
  std::vector<Word> words;
  for (int w = 0; w < kWords; ++w) {
    const auto rest = Array<float>::from_host(e, {n, n}, x);
    words.push_back({Array<float8_e4m3>(e, {n, n}), Array<float>(e, {n, 1})});
    const Word& word = words.back();
    blas::quantize(e, MatrixView<const float>::row_major(e, rest.data(), n, n),
                   MatrixView<float8_e4m3>::row_major(e, word.codes.data(), n, n),
                   MatrixView<float>::row_major(e, word.scales.data(), n, 1));
    const auto codes = word.codes.to_host();
    const auto scales = word.scales.to_host();
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] -= static_cast<float>(codes[i]) * scales[i / static_cast<std::size_t>(n)];
  }
  return words;
}

double error_of(const std::vector<double>& c, const std::vector<double>& exact) {
  double off = 0, size = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    off += (c[i] - exact[i]) * (c[i] - exact[i]);
    size += exact[i] * exact[i];
  }
  return std::sqrt(off / size);
}

// The largest |C - exact|(i, j) / (||a_i|| ||b_j||) of each mode that the executor has, beside its bound.
bool modes_keep_their_bounds(const Executor& e, const std::vector<float>& a, const std::vector<float>& b,
                             const std::vector<double>& exact, std::int64_t n) {
  const auto rows = [&](const std::vector<float>& x) {
    std::vector<double> norms(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i)
      norms[i / static_cast<std::size_t>(n)] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    for (double& v : norms) v = std::sqrt(v);
    return norms;
  };
  const std::vector<double> na = rows(a), nb = rows(b);
  const auto da = Array<float>::from_host(e, {n, n}, a), db = Array<float>::from_host(e, {n, n}, b);
  std::printf("%-12s %-10s %-10s %-10s of ||a_i|| ||b_j||\n", "", "operands", "bound", "error");
  bool right = true;
  for (const blas::Quantized mode : blas::all_quantized()) {
    const Array<float> c(e, {n, n});
    try {
      const blas::QuantizedAccuracy accuracy =
          blas::gemm(e, trn::Op::N, trn::Op::T, 1.0F, MatrixView<const float>::row_major(e, da.data(), n, n),
                     MatrixView<const float>::row_major(e, db.data(), n, n), 0.0F,
                     MatrixView<float>::row_major(e, c.data(), n, n), mode);
      const std::vector<float> host = c.to_host();
      double error = 0;
      for (std::size_t i = 0; i < host.size(); ++i) {
        const auto width = static_cast<std::size_t>(n);
        error = std::max(error, std::abs(host[i] - exact[i]) / (na[i / width] * nb[i % width]));
      }
      std::printf("%-12s %-10.2e %-10.2e %-10.2e\n", name(mode), accuracy.operands, accuracy.bound, error);
      right = right && error <= accuracy.bound && error > 0;
    } catch (const trn::NotImplemented&) {
      std::printf("%-12s not on %s\n", name(mode), e.name().c_str());
    }
  }
  return right;
}

double modelled(const trn::tile::Program& program) {
  return trn::neuron::estimate(program, trn::tile::machine("trn2")).seconds;
}

int program(const example::Arguments& arguments) {
  const Executor e = Executor::open(arguments.text("--exec"));
  const std::int64_t n = arguments.whole("--n", 1, 4096);
  const auto count = static_cast<std::size_t>(n * n);
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> a(count), b(count);  // B^T, both along k
  for (float& x : a) x = normal(random);
  for (float& x : b) x = normal(random);
  std::vector<double> exact(count);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < n; ++k)
        sum += static_cast<double>(a[static_cast<std::size_t>(i * n + k)]) * b[static_cast<std::size_t>(j * n + k)];
      exact[static_cast<std::size_t>(i * n + j)] = sum;
    }
  }

  bool right = modes_keep_their_bounds(e, a, b, exact, n);

  constexpr std::int64_t kN = 4096;
  struct Choice {
    const char* name;
    double error, seconds;
  };
  std::vector<Choice> modes;
  const auto da = Array<float>::from_host(e, {n, n}, a), db = Array<float>::from_host(e, {n, n}, b);
  std::printf("\n%-10s %-9s %-10s modelled on trn2, 4096^3\n", "", "products", "error");
  for (const auto& [name, mode, products] :
       {std::tuple("bf16", Mode::Bf16, 1), std::tuple("tf32", Mode::Tf32, 1), std::tuple("tf32x3", Mode::Tf32x3, 3),
        std::tuple("native", Mode::Native, 1), std::tuple("bf16x6", Mode::Bf16x6, 6)}) {
    const Array<float> c(e, {n, n});
    blas::gemm(e, trn::Op::N, trn::Op::T, 1.0F, MatrixView<const float>::row_major(e, da.data(), n, n),
               MatrixView<const float>::row_major(e, db.data(), n, n), 0.0F,
               MatrixView<float>::row_major(e, c.data(), n, n), {mode});
    const auto host = c.to_host();
    blas::GemmShape shape{trn::DType::Float32, trn::DType::Float32, kN, kN, kN, kN, 1, 1, kN, kN, 1};
    shape.mode = mode;
    const Choice choice{name, error_of({host.begin(), host.end()}, exact),
                        modelled(blas::gemm_program(shape, trn::tile::machine("trn2")))};
    std::printf("%-10s %-9d %-10.2e %.2f ms\n", name, products, choice.error, choice.seconds * 1e3);
    modes.push_back(choice);
  }

  const trn::tile::Machine& machine = trn::tile::machine("trn2");
  blas::ScaledShape shape{
      trn::DType::Float8E4M3, trn::DType::Float8E4M3, trn::DType::Float32, kN, kN, kN, kN, 1, 1, kN, kN, 1};
  shape.a_row = shape.b_column = 1;
  const double first = modelled(blas::scaled_gemm_program(shape, machine));
  shape.beta = blas::Factor::One;
  const double next = modelled(blas::scaled_gemm_program(shape, machine)),
               split = modelled(blas::quantize_program({trn::DType::Float8E4M3, kN, kN, kN, 1, kN, 1, 1, 0}, machine));
  const auto wa = words_of(e, a, n), wb = words_of(e, b, n);
  double before = 1;
  for (int w = 1; w <= kWords; ++w) {
    const Array<float> c(e, {n, n});
    int products = 0;
    for (int level = w - 1; level >= 0; --level) {  // small products first
      for (int i = 0; i <= level; ++i, ++products) {
        const Word &x = wa[static_cast<std::size_t>(i)], &y = wb[static_cast<std::size_t>(level - i)];
        blas::ScaledOptions options;
        options.scale_a = MatrixView<const float>::row_major(e, x.scales.data(), n, 1);
        options.scale_b = MatrixView<const float>::row_major(e, y.scales.data(), 1, n);
        blas::scaled_gemm(e, trn::Op::N, trn::Op::T, 1,
                          MatrixView<const float8_e4m3>::row_major(e, x.codes.data(), n, n),
                          MatrixView<const float8_e4m3>::row_major(e, y.codes.data(), n, n),
                          products == 0 ? 0.0F : 1.0F, MatrixView<float>::row_major(e, c.data(), n, n), options);
      }
    }
    const auto host = c.to_host();
    const Choice words{"", error_of({host.begin(), host.end()}, exact), first + (products - 1) * next + 2 * w * split};
    const char* lost_to = nullptr;
    for (const Choice& mode : modes) {
      if (lost_to == nullptr && mode.error <= words.error && mode.seconds <= words.seconds) lost_to = mode.name;
    }
    std::printf("%d word%s    %-9d %-10.2e %.2f ms%s%s\n", w, w == 1 ? " " : "s", products, words.error,
                words.seconds * 1e3, lost_to ? ", more than " : "", lost_to ? lost_to : "");
    // One word is what 8 bits are for: quicker than every mode, and less accurate.
    right = right && (w == 1 ? words.seconds < modes.front().seconds
                             : lost_to != nullptr || words.seconds > modes.back().seconds);
    right = right && (words.error < before / 5 || words.error < 1e-6);
    before = words.error;
  }
  std::printf(right ? "ok\n" : "FAILED\n");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const example::Arguments arguments(argc, argv, {{"--exec", "host"}, {"--n", "256"}});
  return example::guarded([&] { return program(arguments); });
}

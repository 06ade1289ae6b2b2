// The constants of the kernels of lines: DFT matrices and twiddles with exact angles, rounded once (or split into
// words), in the order of rows and columns that each kernel wants. Sign and scale are here and nowhere else.
#include <trn/core/convert.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/machine.hpp>

#include "../roots.hpp"
#include "exact_blocks.hpp"
#include "half_layout.hpp"

namespace trn::fft {

using tile::Machine;

namespace {

using Complex = std::complex<long double>;

// (words, rows, columns): entry(row, column) as a sum of words.
template <class Entry>
Constant make(std::string name, std::int64_t rows, std::int64_t columns, DType dtype, std::int64_t words, Entry entry) {
  Constant c{std::move(name),
             std::vector<std::byte>(static_cast<std::size_t>(words * rows * columns * size_bytes(dtype)))};
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    long double rest = entry(i / columns, i % columns);
    for (std::int64_t w = 0; w < words; ++w) {
      const auto value = static_cast<double>(rest);
      std::byte* at = c.bytes.data() + (w * rows * columns + i) * size_bytes(dtype);
      from_double(&value, dtype, at, 1);
      double kept = 0;
      to_double(dtype, at, &kept, 1);
      rest -= kept;
    }
  }
  return c;
}

// Which point and part (0 real, 1 imaginary) a row or column stands for.
struct Place {
  std::int64_t line, point, part;
};
// (line, point, part) or, planar, (line, part, point).
Place place(std::int64_t i, std::int64_t points, const PointLayout& layout) {
  const std::int64_t line = i / (2 * points), rest = i % (2 * points);
  if (layout.format == Format::Interleaved) return {line, rest / 2, rest % 2};
  return {line, rest % points, rest / points};
}
// The real matrix of multiplication by w: part `from` of the factor to part `to` of the product.
long double coefficient(const Complex& w, std::int64_t from, std::int64_t to) {
  if (from == to) return w.real();
  return to == 0 ? -w.imag() : w.imag();
}

class Maker {
 public:
  Maker(const LinesShape& shape, const Machine& machine, const ConstantOptions& options)
      : s_(shape), machine_(machine), options_(options), words_(device::words_of(shape.mode)) {}

  std::vector<Constant> run() {
    switch (s_.kernel) {
      case LineKernel::Rows:
        rows();
        break;
      case LineKernel::Columns:
        columns();
        break;
      case LineKernel::Blocks:
        if (device::is_half_out(s_))
          half_out();
        else if (device::is_half_in(s_))
          half_in();
        else
          blocks();
        break;
      case LineKernel::RealColumns:
        real_columns();
        break;
      case LineKernel::Pairs:
        pairs();
        break;
      case LineKernel::PairsIn:
        pairs_in();
        break;
      case LineKernel::ColumnsReal:
        columns_real();
        break;
    }
    return std::move(made_);
  }

 private:
  Complex power(std::int64_t k, std::int64_t n) const {
    const Complex w = long_root(k, n);
    return options_.direction == Direction::Forward ? w : std::conj(w);
  }
  template <class Entry> void matrix(const char* name, std::int64_t rows, std::int64_t columns, Entry entry) {
    made_.push_back(make(name, rows, columns, words_.dtype, words_.count, entry));
  }

  void rows() {
    const std::int64_t n = s_.n2, half = n / 2 + 1, evens = n - (n - 1) / 2;
    const device::RowsParts parts = device::rows_parts(s_);
    const std::int64_t together = device::lines_together(parts.rows, machine_);
    const auto w = [&](std::int64_t j, std::int64_t k) { return options_.factor * power(j * k % n, n); };
    for (std::int64_t number = 0; number < parts.parts * parts.chunks; ++number) {
      matrix(number == 0 ? "matrix0" : "matrix1", together * parts.rows, together * parts.columns,
             [&](std::int64_t r, std::int64_t c) -> long double {
               if (r / parts.rows != c / parts.columns) return 0;
               const std::int64_t row = r % parts.rows, column = c % parts.columns;
               if (device::rows_packed(s_))
                 return coefficient(w(row, column == 1 ? n / 2 : column / 2), 0, column < 2 ? 0 : column % 2);
               if (s_.in.real) {
                 const Place to = place(column, half, s_.out);
                 return coefficient(w(row, to.point), 0, to.part);
               }
               // Rows: real parts of points 0 .. n/2, imaginary parts of 1 .. (n-1)/2; points with a mirror image count
               // twice.
               if (s_.out.real) {
                 const bool imaginary = row >= evens;
                 const std::int64_t k = imaginary ? row - evens + 1 : row;
                 return coefficient(w(k, column), imaginary ? 1 : 0, 0) * (k == 0 || 2 * k == n ? 1 : 2);
               }
               if (parts.parts == 1) {
                 const Place from = place(number * parts.rows + row, n, s_.in), to = place(column, n, s_.out);
                 return coefficient(w(from.point, to.point), from.part, to.part);
               }
               // Halves: x_j + x_(j+n/2) gives the even results, x_j - x_(j+n/2) the odd ones.
               const Place from = place(row, n / 2, s_.in), to = place(column, n / 2, s_.out);
               return coefficient(w(from.point, 2 * to.point + number), from.part, to.part);
             });
    }
  }

  // Block diagonal a, b and -b, a + i b = factor * w^(jk).
  void planes(std::int64_t n, const char* const (&names)[3], long double factor, bool second) {
    const std::int64_t together = device::lines_together(n, machine_), side = together * n;
    for (int which = 0; which < 3; ++which) {
      if (which == 1 && second) continue;
      matrix(names[which], side, side, [&](std::int64_t r, std::int64_t c) -> long double {
        if (r / n != c / n) return 0;
        const bool shifted = s_.odd && device::is_half_in(s_);
        const Complex w = factor * power((2 * (r % n) + (shifted ? 1 : 0)) * (c % n) % (2 * n), 2 * n);
        return which == 0 ? w.real() : which == 1 ? w.imag() : -w.imag();
      });
    }
  }

  void columns() {
    const std::int64_t n = s_.n2, given = s_.in.points;
    if (given < n) {
      for (std::int64_t to = 0; to < 2; ++to) {
        matrix(to == 0 ? "matrix_re" : "matrix_im", n, n, [&](std::int64_t r, std::int64_t c) -> long double {
          return coefficient(2 * options_.factor * power(r % given * c % n, n), r / given, to);
        });
      }
      made_.push_back(make("signs", 1, n, DType::Float32, 1, [&](std::int64_t, std::int64_t c) -> long double {
        return c % 2 == 0 ? options_.factor : -options_.factor;
      }));
    } else {
      planes(n, {"matrix_a", "matrix_b", "matrix_minus_b"}, options_.factor, false);
    }
    if (s_.table) table(s_.n2);
  }
  // Entry (k, b) for k < points.
  void table(std::int64_t points) {
    const std::int64_t lines = s_.lines.back().count, length = options_.table_length;
    require(length >= 1, "fft: a table needs the length it is for");
    Constant table{"table", std::vector<std::byte>(static_cast<std::size_t>(points * lines * 2) * sizeof(float))};
    auto* entry = reinterpret_cast<float*>(table.bytes.data());
    for (std::int64_t k = 0; k < points; ++k) {
      for (std::int64_t b = 0; b < lines; ++b) {
        const Complex w = power(k * b % length, length);
        *entry++ = static_cast<float>(w.real());
        *entry++ = static_cast<float>(w.imag());
      }
    }
    made_.push_back(std::move(table));
  }

  // Rows (group, j1), columns (group, k1); for the imaginary part of k1 = 0, which is 0, the real one of k1 = n/2.
  void real_columns() {
    const std::int64_t n = s_.n2, rows = machine_.partitions, half = n / 2;
    for (std::int64_t to = 0; to < 2; ++to) {
      matrix(to == 0 ? "matrix_re" : "matrix_im", rows, rows / 2, [&](std::int64_t r, std::int64_t c) -> long double {
        if (r / n != c / half) return 0;
        const std::int64_t j = r % n, k = c % half;
        if (k == 0 && to == 1) return j % 2 == 0 ? options_.factor : -options_.factor;
        return coefficient(options_.factor * power(j * k % n, n), 0, to);
      });
    }
    table(half);
  }
  void pairs() {
    const std::int64_t n1 = s_.n1, n2 = s_.n2, rows1 = device::lines_together(n1, machine_) * n1,
                       upper = machine_.partitions / 2;
    first_step(rows1, 1, 1);
    twiddles(n2, n2, 2 * rows1, n1);
    for (std::int64_t from = 0; from < 2; ++from) {
      matrix(from == 0 ? "second_re" : "second_im", n2, upper + n2 / 2,
             [&](std::int64_t r, std::int64_t c) -> long double {
               const std::int64_t k2 = c % upper;
               return k2 < n2 / 2 ? coefficient(options_.factor * power(r * k2 % n2, n2), from, c / upper) : 0;
             });
    }
    matrix("lone", n2, 1,
           [&](std::int64_t r, std::int64_t) { return r % 2 == 0 ? options_.factor : -options_.factor; });
  }

  void pairs_in() {
    const std::int64_t n1 = s_.n1, n2 = s_.n2, rows1 = device::lines_together(n1, machine_) * n1,
                       upper = machine_.partitions / 2;
    for (std::int64_t which = 0; which < 2; ++which) {
      matrix(which == 0 ? "first_sum" : "first_difference", upper + n2 / 2, 2 * n2,
             [&](std::int64_t r, std::int64_t c) -> long double {
               if (r % upper >= n2 / 2) return 0;
               const Complex w = power(c / 2 * (r % upper) % n2, n2);
               return coefficient(which == 0 ? w : Complex(0, -1) * w, r / upper, c % 2);
             });
    }
    twiddles(rows1, n1, 2 * n2, n2);
    planes(n1, {"second_a", "second_b", "second_minus_b"}, options_.factor, true);
    matrix("spread", rows1 / n1, rows1,
           [&](std::int64_t r, std::int64_t c) { return r == c / n1 ? options_.factor : 0; });
  }
  // Rows (part, group, k1), columns (group, j1).
  void columns_real() {
    const std::int64_t n = s_.n2, rows = machine_.partitions, half = n / 2;
    matrix("matrix", rows, rows, [&](std::int64_t r, std::int64_t c) -> long double {
      const std::int64_t from = r / (rows / 2), k = r % half, j = c % n;
      if (r % (rows / 2) / half != c / n) return 0;
      if (k == 0) return from == 1 && j % 2 != 0 ? -options_.factor : options_.factor;
      return coefficient(2 * options_.factor * power(j * k % n, n), from, 0);
    });
    table(half);
  }

  // The twiddles between n1 and n2 points: rows (line, a), columns (line, b, part), w^(a b).
  void twiddles(std::int64_t rows, std::int64_t rows_each, std::int64_t columns, std::int64_t columns_each) {
    const auto twiddle = [&](std::int64_t r, std::int64_t c) {
      const std::int64_t a = r % rows_each,
                         b = c / 2 % columns_each;  // of odd lines k + 1/2, which is b, or a where half lines come in
      return power(2 * a * b + (!s_.odd ? 0 : device::is_half_in(s_) ? b : a), 2 * s_.n());
    };
    made_.push_back(make("twiddle_cos", rows, columns, DType::Float32, 1,
                         [&](std::int64_t r, std::int64_t c) { return twiddle(r, c).real(); }));
    made_.push_back(make("twiddle_sin", rows, columns, DType::Float32, 1,
                         [&](std::int64_t r, std::int64_t c) { return (c % 2 == 0 ? -1 : 1) * twiddle(r, c).imag(); }));
  }
  // F1 for real and imaginary parts of x, rows (line, j1), columns (line, k1, part).
  void first_step(std::int64_t rows1, long double weight, std::int64_t parts = 2) {
    const std::int64_t n1 = s_.n1;
    for (std::int64_t from = 0; from < (s_.in.real ? 1 : parts); ++from) {
      matrix(from == 0 ? "first_re" : "first_im", rows1, 2 * rows1, [&](std::int64_t r, std::int64_t c) -> long double {
        if (r / n1 != c / (2 * n1)) return 0;
        return coefficient(power((r % n1) * (2 * (c / 2 % n1) + (s_.odd ? 1 : 0)) % (2 * n1), 2 * n1), from, c % 2) *
               weight;
      });
    }
  }

  void blocks() {
    const std::int64_t n1 = s_.n1, n2 = s_.n2;
    const std::int64_t rows1 = device::lines_together(n1, machine_) * n1,
                       rows2 = device::lines_together(n2, machine_) * n2;
    first_step(rows1, 1);
    twiddles(rows2, n2, 2 * rows1, n1);
    planes(n2, {"second_a", "second_b", "second_minus_b"}, options_.factor, s_.out.real);
  }

  void half_out() {
    const device::HalfLayout layout(s_, machine_);
    const std::int64_t n1 = s_.n1, n2 = s_.n2, rows1 = layout.block.above * n1, rows2 = layout.block.beside * n2;
    first_step(rows1, 1, s_.odd ? 1 : 2);
    twiddles(rows2, n2, 2 * rows1, n1);
    for (std::int64_t from = 0; from < 2; ++from) {
      matrix(from == 0 ? "second_re" : "second_im", rows2, layout.all_rows(),
             [&](std::int64_t r, std::int64_t c) -> long double {
               const device::HalfLayout::Row to = layout.row(c);
               if (!to.used || to.line != r / n2) return 0;
               return coefficient(options_.factor * power((r % n2) * to.k2 % n2, n2), from, to.part);
             });
    }
    if (!layout.lone) return;
    matrix("lone", rows2, layout.block.beside, [&](std::int64_t r, std::int64_t c) -> long double {
      return r / n2 == c ? (r % n2 % 2 == 0 ? options_.factor : -options_.factor) : 0;
    });
  }

  void half_in() {
    const device::HalfLayout layout(s_, machine_);
    const std::int64_t n1 = s_.n1, n2 = s_.n2, rows1 = layout.block.above * n1, rows2 = layout.block.beside * n2;
    matrix("first", layout.all_rows(), 2 * rows2, [&](std::int64_t r, std::int64_t c) -> long double {
      const device::HalfLayout::Row from = layout.row(r);
      if (!from.used || from.line != c / (2 * n2)) return 0;
      return 2 * coefficient(power((c / 2 % n2) * from.k2 % n2, n2), from.part, c % 2);
    });
    twiddles(rows1, n1, 2 * rows2, n2);
    planes(n1, {"second_a", "second_b", "second_minus_b"}, options_.factor, true);
    // What the first and the last point count of themselves, where they are their own mirror image; not of odd lines.
    if (!s_.odd) {
      made_.push_back(
          make("ends", layout.part_rows(), 2, DType::Float32, 1, [&](std::int64_t r, std::int64_t c) -> long double {
            return layout.row(r).k2 == (c == 0 ? 0 : layout.rows - 1) ? 0.5 : 1;
          }));
    }
    made_.push_back({"zeros", std::vector<std::byte>(static_cast<std::size_t>(device::half_in_zeros(s_, machine_)) *
                                                     sizeof(float))});
    if (!layout.lone) return;
    made_.push_back(
        make("spread", layout.block.above, rows1, DType::Float32, 1,
             [&](std::int64_t r, std::int64_t c) -> long double { return r == c / n1 ? options_.factor : 0; }));
  }

  const LinesShape& s_;
  const Machine& machine_;
  const ConstantOptions& options_;
  const device::Words words_;
  std::vector<Constant> made_;
};

}  // namespace

std::vector<Constant> lines_constants(const LinesShape& shape, const Machine& machine, const ConstantOptions& options) {
  if (shape.mode == Mode::Exact) return device::exact_blocks_constants(shape, machine, options);
  return Maker(shape, machine, options).run();
}

}  // namespace trn::fft

// Loads and stores: strided bytes are packed next to each other first, then converted as one run, so that the
// conversion loops of core see contiguous memory only.
#include "sim/rows.hpp"

#include <cmath>
#include <cstring>
#include <trn/core/convert.hpp>
#include <trn/core/error.hpp>
#include <type_traits>

namespace trn::neuron::sim {

namespace {

template <class T> void pack_run(const std::byte* from, std::int64_t step, std::int64_t n, std::byte* to) {
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * sizeof(T), from + i * step, sizeof(T));
}
template <class T> void unpack_run(const std::byte* from, std::byte* to, std::int64_t step, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(to + i * step, from + i * sizeof(T), sizeof(T));
}

// Elements of `bytes` bytes between strided memory and a packed buffer.
void pack(const std::byte* from, std::int64_t step, std::int64_t bytes, std::int64_t n, std::byte* to) {
  if (step == bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(n * bytes));
    return;
  }
  switch (bytes) {
    case 1:
      return pack_run<std::uint8_t>(from, step, n, to);
    case 2:
      return pack_run<std::uint16_t>(from, step, n, to);
    case 4:
      return pack_run<std::uint32_t>(from, step, n, to);
    default:
      return pack_run<std::uint64_t>(from, step, n, to);
  }
}
void unpack(const std::byte* from, std::byte* to, std::int64_t step, std::int64_t bytes, std::int64_t n) {
  if (step == bytes) {
    std::memcpy(to, from, static_cast<std::size_t>(n * bytes));
    return;
  }
  switch (bytes) {
    case 1:
      return unpack_run<std::uint8_t>(from, to, step, n);
    case 2:
      return unpack_run<std::uint16_t>(from, to, step, n);
    case 4:
      return unpack_run<std::uint32_t>(from, to, step, n);
    default:
      return unpack_run<std::uint64_t>(from, to, step, n);
  }
}

std::int64_t stored_bytes(const Operand& o) { return o.wide ? 8 : o.element_bytes; }

void pack_range(const Operand& o, std::int64_t begin, std::int64_t n, std::byte* out) {
  const std::int64_t bytes = stored_bytes(o);
  for_each_run(o, begin, n, [&](std::int64_t offset, std::int64_t stride, std::int64_t run, std::int64_t done) {
    pack(o.data + offset * o.scale, stride * o.scale, bytes, run, out + done * bytes);
  });
}
void unpack_range(const Operand& o, std::int64_t begin, std::int64_t n, const std::byte* packed) {
  const std::int64_t bytes = stored_bytes(o);
  for_each_run(o, begin, n, [&](std::int64_t offset, std::int64_t stride, std::int64_t run, std::int64_t done) {
    unpack(packed + done * bytes, o.data + offset * o.scale, stride * o.scale, bytes, run);
  });
}

// A packed buffer of one thread for elements that are strided in memory. The buffer holds any element type.
std::byte* staging(std::int64_t bytes) {
  static thread_local std::vector<std::uint64_t> buffer;
  const auto words = static_cast<std::size_t>((bytes + 7) / 8);
  if (buffer.size() < words) buffer.resize(words);
  return reinterpret_cast<std::byte*>(buffer.data());
}

struct IntegerRange {
  double lowest, highest;
};
IntegerRange integer_range(DType dtype) {
  const int bits = static_cast<int>(8 * size_bytes(dtype));
  const bool is_signed = dtype == DType::Int32 || dtype == DType::Int16 || dtype == DType::Int8;
  return is_signed ? IntegerRange{-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1}
                   : IntegerRange{0.0, std::ldexp(1.0, bits) - 1};
}

// Wide storage: a slot of an integer tile may have been written through the dtype of the other signedness; the bits it
// stands for are the value modulo 2^bits.
void wrap_integers(DType dtype, double* values, std::int64_t n) {
  const IntegerRange range = integer_range(dtype);
  const double modulus = range.highest - range.lowest + 1;
  for (std::int64_t i = 0; i < n; ++i) {
    if (values[i] > range.highest) values[i] -= modulus;
    if (values[i] < range.lowest) values[i] += modulus;
  }
}

// Round to nearest even and saturate; NaN becomes 0: convert.hpp's rule for a value that stays a double.
void round_integers(DType dtype, const double* values, double* out, std::int64_t n) {
  const IntegerRange range = integer_range(dtype);
  for (std::int64_t i = 0; i < n; ++i) {
    const double rounded = std::nearbyint(values[i]);
    out[i] = rounded != rounded        ? 0.0
             : rounded < range.lowest  ? range.lowest
             : rounded > range.highest ? range.highest
                                       : rounded;
  }
}

void store_wide(const Operand& o, std::int64_t begin, std::int64_t n, const double* values) {
  if (is_integer(o.dtype)) {
    auto* rounded = reinterpret_cast<double*>(staging(n * 8));
    round_integers(o.dtype, values, rounded, n);
    values = rounded;
  }
  unpack_range(o, begin, n, reinterpret_cast<const std::byte*>(values));
}

// Runs `convert(packed memory)` and puts the elements where they belong; no detour when they are contiguous.
template <class Convert>
void store_packed(const Operand& o, std::int64_t begin, std::int64_t n, const Convert& convert) {
  if (o.contiguous(begin, n)) return convert(o.data + o.offset(begin));
  std::byte* packed = staging(n * o.element_bytes);
  convert(packed);
  unpack_range(o, begin, n, packed);
}

}  // namespace

template <class Real> void load(const Operand& o, std::int64_t begin, std::int64_t n, Real* out) {
  if (o.wide) {
    if constexpr (std::is_same_v<Real, double>) {
      pack_range(o, begin, n, reinterpret_cast<std::byte*>(out));
      if (is_integer(o.dtype)) wrap_integers(o.dtype, out, n);
    } else {
      fail<InternalError>("simulator: a float load from Wide storage");
    }
    return;
  }
  const std::byte* packed = o.data + o.offset(begin);
  if (!o.contiguous(begin, n)) {
    std::byte* buffer = staging(n * o.element_bytes);
    pack_range(o, begin, n, buffer);
    packed = buffer;
  }
  if constexpr (std::is_same_v<Real, float>) {
    to_float(o.dtype, packed, out, n);
  } else {
    to_double(o.dtype, packed, out, n);
  }
}

template <class Real> const Real* view(const Operand& o, std::int64_t begin, std::int64_t n, Real* scratch) {
  if constexpr (std::is_same_v<Real, float>) {
    const bool plain = o.dtype == DType::Float32 || o.dtype == DType::TFloat32;
    if (plain && !o.wide && o.contiguous(begin, n)) return reinterpret_cast<const float*>(o.data + o.offset(begin));
  }
  load(o, begin, n, scratch);
  return scratch;
}

template <class Real>
void store(const Operand& o, std::int64_t begin, std::int64_t n, const Real* values, const Rounder& rounder) {
  if constexpr (std::is_same_v<Real, double>) {
    store_values(o, begin, n, values);
  } else {
    store_packed(o, begin, n, [&](std::byte* packed) {
      if (rounder.stochastic) {
        from_float_stochastic(values, o.dtype, packed, n, rounder.seed,
                              rounder.counter + static_cast<std::uint64_t>(begin));
      } else {
        from_float(values, o.dtype, packed, n);
      }
    });
  }
}

void store_values(const Operand& o, std::int64_t begin, std::int64_t n, const double* values) {
  if (o.wide) return store_wide(o, begin, n, values);
  store_packed(o, begin, n, [&](std::byte* packed) { from_double(values, o.dtype, packed, n); });
}

template <class Real> std::array<std::byte, 8> constant_cell(DType dtype, double value) {
  alignas(8) std::array<std::byte, 8> cell{};
  if constexpr (std::is_same_v<Real, double>) {
    std::memcpy(cell.data(), &value, sizeof(double));
  } else {
    from_double(&value, dtype, cell.data(), 1);
  }
  return cell;
}

template <class Real> std::int64_t cell_bytes(const Operand& o) {
  return std::is_same_v<Real, double> ? 8 : o.element_bytes;
}

template <class Real> void load_cells(const Operand& o, std::int64_t begin, std::int64_t n, std::byte* out) {
  if constexpr (std::is_same_v<Real, double>) {
    load(o, begin, n, reinterpret_cast<double*>(out));
  } else {
    pack_range(o, begin, n, out);
  }
}

template <class Real> void store_cells(const Operand& o, std::int64_t begin, std::int64_t n, const std::byte* cells) {
  if constexpr (std::is_same_v<Real, double>) {
    store_values(o, begin, n, reinterpret_cast<const double*>(cells));
  } else {
    unpack_range(o, begin, n, cells);
  }
}

template <class Real> void copy_elements(const Operand& dst, const Operand& src, const Rounder& rounder) {
  // Whole partitions where there are any; HBM to HBM in pieces of some KiB.
  static constexpr std::int64_t kPiece = 16384;
  const Operand& shape = dst.target == tile::Target::Tile ? dst : src;
  const std::int64_t piece = shape.target == tile::Target::Tile ? shape.row : std::min(dst.count, kPiece);
  const bool bits = dst.dtype == src.dtype;
  for_each_row<Real>((dst.count + piece - 1) / piece, piece, [&](std::int64_t r, RowBuffers<Real>& buffers) {
    const std::int64_t begin = r * piece, n = std::min(piece, dst.count - begin);
    if (bits && !dst.wide && !src.wide) {
      const std::int64_t bytes = dst.element_bytes;
      // Straight from one side to the other, unless they may overlap: the row is read completely before it is written.
      const bool apart = dst.target != src.target || dst.id != src.id;
      if (apart && dst.contiguous(begin, n)) return pack_range(src, begin, n, dst.data + dst.offset(begin));
      if (apart && src.contiguous(begin, n)) return unpack_range(dst, begin, n, src.data + src.offset(begin));
      auto* packed =
          reinterpret_cast<std::byte*>(buffers.get(0, n * bytes / static_cast<std::int64_t>(sizeof(Real)) + 1));
      pack_range(src, begin, n, packed);
      return unpack_range(dst, begin, n, packed);
    }
    store(dst, begin, n, view(src, begin, n, buffers.get(0, n)), rounder);
  });
}

void load_words(const Operand& o, std::int64_t begin, std::int64_t n, Extend extend, std::uint32_t* out) {
  if (!o.wide && o.element_bytes == 4) {
    pack_range(o, begin, n, reinterpret_cast<std::byte*>(out));
    return;
  }
  static thread_local std::vector<double> values;
  values.resize(static_cast<std::size_t>(n));
  load(o, begin, n, values.data());
  const std::uint32_t mask = extend == Extend::Bits && o.element_bytes < 4 ? (1u << (8 * o.element_bytes)) - 1 : ~0u;
  for (std::int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<std::uint32_t>(static_cast<std::int64_t>(values[static_cast<std::size_t>(i)])) & mask;
  }
}

void store_words(const Operand& o, std::int64_t begin, std::int64_t n, const std::uint32_t* words) {
  if (!o.wide && o.element_bytes == 4) {
    unpack_range(o, begin, n, reinterpret_cast<const std::byte*>(words));
    return;
  }
  static thread_local std::vector<double> values;
  values.resize(static_cast<std::size_t>(n));
  const double modulus = std::ldexp(1.0, static_cast<int>(8 * o.element_bytes));
  const std::uint32_t mask = o.element_bytes < 4 ? (1u << (8 * o.element_bytes)) - 1 : ~0u;
  const IntegerRange range = integer_range(o.dtype);
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = words[i] & mask;
    values[static_cast<std::size_t>(i)] = value > range.highest ? value - modulus : value;
  }
  store_values(o, begin, n, values.data());
}

#define TRN_INSTANTIATE(Real)                                                                         \
  template void load<Real>(const Operand&, std::int64_t, std::int64_t, Real*);                        \
  template const Real* view<Real>(const Operand&, std::int64_t, std::int64_t, Real*);                 \
  template void store<Real>(const Operand&, std::int64_t, std::int64_t, const Real*, const Rounder&); \
  template std::int64_t cell_bytes<Real>(const Operand&);                                             \
  template std::array<std::byte, 8> constant_cell<Real>(DType, double);                               \
  template void load_cells<Real>(const Operand&, std::int64_t, std::int64_t, std::byte*);             \
  template void store_cells<Real>(const Operand&, std::int64_t, std::int64_t, const std::byte*);      \
  template void copy_elements<Real>(const Operand&, const Operand&, const Rounder&);
TRN_INSTANTIATE(float)
TRN_INSTANTIATE(double)
#undef TRN_INSTANTIATE

}  // namespace trn::neuron::sim

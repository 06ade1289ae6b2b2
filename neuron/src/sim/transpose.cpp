// Blocked transposes of cells.
#include "sim/transpose.hpp"

#include <cstring>

namespace trn::neuron::sim {

namespace {

template <class Cell> void transpose_as(const std::byte* in, std::int64_t rows, std::int64_t columns, std::byte* out) {
  static constexpr std::int64_t kBlock = 16;  // a block's lines of both sides stay in L1
  for (std::int64_t r0 = 0; r0 < rows; r0 += kBlock) {
    const std::int64_t r1 = std::min(rows, r0 + kBlock);
    for (std::int64_t c = 0; c < columns; ++c) {
      for (std::int64_t r = r0; r < r1; ++r) {
        std::memcpy(out + (c * rows + r) * sizeof(Cell), in + (r * columns + c) * sizeof(Cell), sizeof(Cell));
      }
    }
  }
}

}  // namespace

void transpose_cells(const std::byte* in, std::int64_t rows, std::int64_t columns, std::int64_t bytes, std::byte* out) {
  switch (bytes) {
    case 1:
      return transpose_as<std::uint8_t>(in, rows, columns, out);
    case 2:
      return transpose_as<std::uint16_t>(in, rows, columns, out);
    case 4:
      return transpose_as<std::uint32_t>(in, rows, columns, out);
    default:
      return transpose_as<std::uint64_t>(in, rows, columns, out);
  }
}

template <class Real> std::vector<std::byte> all_cells(const Operand& o) {
  std::vector<std::byte> cells(static_cast<std::size_t>(o.count * cell_bytes<Real>(o)));
  load_cells<Real>(o, 0, o.count, cells.data());
  return cells;
}

template <class Real> void put_cells(const Operand& dst, const std::byte* cells, std::int64_t bytes) {
  const std::int64_t wanted = cell_bytes<Real>(dst);
  if (wanted == bytes) return store_cells<Real>(dst, 0, dst.count, cells);
  ensure(bytes < wanted, "simulator: a move of {}-byte elements into {}-byte ones", bytes, wanted);
  std::vector<std::byte> wider(static_cast<std::size_t>(dst.count * wanted));
  for (std::int64_t i = 0; i < dst.count; ++i) {
    std::memcpy(wider.data() + i * wanted, cells + i * bytes, static_cast<std::size_t>(bytes));
  }
  store_cells<Real>(dst, 0, dst.count, wider.data());
}

template <class Real> void move_transposed(const Operand& dst, const Operand& src) {
  const std::int64_t bytes = cell_bytes<Real>(src);
  const std::vector<std::byte> cells = all_cells<Real>(src);
  std::vector<std::byte> turned(cells.size());
  transpose_cells(cells.data(), src.rows, src.row, bytes, turned.data());
  put_cells<Real>(dst, turned.data(), bytes);
}

template std::vector<std::byte> all_cells<float>(const Operand&);
template std::vector<std::byte> all_cells<double>(const Operand&);
template void put_cells<float>(const Operand&, const std::byte*, std::int64_t);
template void put_cells<double>(const Operand&, const std::byte*, std::int64_t);
template void move_transposed<float>(const Operand&, const Operand&);
template void move_transposed<double>(const Operand&, const Operand&);

}  // namespace trn::neuron::sim

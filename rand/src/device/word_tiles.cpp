// Counting blocks from tile to tile, on top of the rounds of the two algorithms.
#include <trn/rand/fill_program.hpp>
#include <trn/rand/word_tiles.hpp>

#include "device/rounds.hpp"

namespace trn::rand {

using namespace tile;

std::int64_t fill_parameter_count(Algorithm algorithm) {
  return static_cast<std::int64_t>(fill_parameters({.algorithm = algorithm}).size());
}

WordTiles::WordTiles(Builder& b, Algorithm algorithm, const Access& parameters) : b_(b), algorithm_(algorithm) {
  const std::int64_t partitions = b.machine().partitions, words = parameters.size();
  parameters_ = b.sbuf("parameter_tile", partitions, {words}, DType::UInt32);
  b.dma_copy(parameters_, parameters.broadcast(0, partitions));
  start_ = b.sbuf("start", partitions, {1}, DType::UInt32);
  b.tensor_copy(start_, parameters_(all, ds(0, 1)), Engine::GpSimd);
}

void WordTiles::set_shape(std::int64_t rows, std::int64_t columns) {
  rows_ = rows;
  columns_ = columns;
  index_ = b_.sbuf("index", rows, {columns}, DType::UInt32);
  b_.iota(index_, {{1, columns}}, 0, columns);
  step_ = b_.sbuf("step", b_.machine().partitions, {1}, DType::UInt32);
  b_.memset(step_, static_cast<double>(rows * columns), Engine::GpSimd);
}

WordPlanes WordTiles::next(const std::function<void(int)>& between) {
  const Access count = b_.sbuf("count", rows_, {columns_}, DType::UInt32);
  b_.tensor_tensor(count, index_, device::spread(start_(ds(0, rows_), all), columns_), AluOp::Add, Engine::GpSimd);
  const Access parameters = parameters_(ds(0, rows_), all);
  const WordPlanes words = algorithm_ == Algorithm::Philox4x32_10
                               ? device::philox_blocks(b_, parameters, count, between)
                               : device::threefry_blocks(b_, parameters, count, between);
  b_.tensor_tensor(start_, start_, step_, AluOp::Add, Engine::GpSimd);
  return words;
}

}  // namespace trn::rand

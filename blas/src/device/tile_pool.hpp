// Temporary tiles of straight-line code that is recorded many times: a program that declared them anew each time would
// have tens of thousands of tiles.
//
// A Word is a tile, or a part of one, of float32 or a type of the same size. Words that a pool gave out go back to it
// when the last copy is gone, and wait at the end of the queue, so that a tile rests as long as possible between two
// uses and engines do not wait for one another. Loops around words must be sequential: every iteration uses the same
// tiles.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include <trn/core/error.hpp>
#include <trn/tile/builder.hpp>

namespace trn::blas::device {

class Word {
 public:
  Word() = default;
  Word(tile::Access access) : access_(std::make_shared<tile::Access>(std::move(access))) {}
  explicit Word(std::shared_ptr<tile::Access> access) : access_(std::move(access)) {}
  operator const tile::Access&() const { return *access_; }
  const tile::Access* operator->() const { return access_.get(); }
  const tile::Access& operator*() const { return *access_; }

 private:
  std::shared_ptr<tile::Access> access_;
};

class TilePool {
 public:
  TilePool(tile::Builder& b, const std::string& name, std::int64_t partitions, std::int64_t elements,
           std::int64_t count)
      : free_(std::make_shared<std::deque<tile::Access>>()) {
    for (std::int64_t k = 0; k < count; ++k)
      free_->push_back(b.sbuf(name + std::to_string(k), partitions, {elements}, DType::Float32));
  }

  // (partitions, shape), row-major from the start of a tile.
  [[nodiscard]] Word take(std::int64_t partitions, const Shape& shape, DType dtype = DType::Float32) const {
    ensure(!free_->empty(), "a pool of tiles is empty: give it more");
    const tile::Access whole = free_->front();
    free_->pop_front();
    tile::Access access = whole(tile::ds(0, partitions), tile::ds(0, element_count(shape)));
    if (dtype != access.dtype) access = access.view(dtype);
    std::int64_t stride = 1;
    access.dims.clear();
    for (auto size = shape.rbegin(); size != shape.rend(); stride *= *size++)
      access.dims.insert(access.dims.begin(), {stride, *size});
    return Word(
        std::shared_ptr<tile::Access>(new tile::Access(std::move(access)), [free = free_, whole](tile::Access* gone) {
          free->push_back(whole);
          delete gone;
        }));
  }

 private:
  std::shared_ptr<std::deque<tile::Access>> free_;
};

[[nodiscard]] inline Shape shape_of(const tile::Access& access) {
  Shape shape;
  for (const tile::Dim& d : access.dims) shape.push_back(d.size);
  return shape;
}

}  // namespace trn::blas::device

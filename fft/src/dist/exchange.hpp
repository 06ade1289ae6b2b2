// An all-to-all between two layouts of an array, planned once: which boxes go to whom, packed in which order.
//
// A layout says for every rank where its elements lie. Both sides enumerate the meetings of their boxes in the same
// order, so nothing but the elements travels. What a rank keeps is copied straight; what lies in one stretch on either
// side is sent from, or received at, its place.
#pragma once

#include <cstddef>
#include <vector>

#include <trn/comm/communicator.hpp>
#include <trn/comm/distribution.hpp>

namespace trn::fft::dist_detail {

// What happens to complex elements as they are read.
enum class Read : std::uint8_t { Plain, Conjugate, RealPart };

// A box of global indices and where it lies in a rank's memory; strides may be negative.
struct Region {
  Shape begin, extent;
  std::int64_t offset = 0;
  Strides strides;
  Read read = Read::Plain;
};
struct Layout {
  std::vector<std::vector<Region>> regions;  // by rank
  std::vector<std::int64_t> elements;        // of a rank's memory
  bool real = false;
  bool operator==(const Layout& other) const;
};
// Every rank of the group has an entry; those beyond the boxes have nothing.
[[nodiscard]] Layout layout_of(const dist::Boxes& boxes, int ranks, bool real);

// The ranks that `rank` sends to or receives from between two layouts, itself among them.
[[nodiscard]] std::vector<int> partners_of(const Layout& from, const Layout& to, int rank);

// T: float or double; a layout's elements are T or std::complex<T>. Elements become real, or complex, on the way.
template <class T> class Exchange {
 public:
  Exchange(const Layout& from, const Layout& to, int rank);
  // Host memory. Collective. `from` and `to` do not overlap.
  void run(const comm::Communicator& group, const void* from, void* to);
  // The ranks that this one exchanges with, itself among them.
  [[nodiscard]] std::vector<int> partners() const;

 private:
  struct Move {
    Shape extent;
    std::int64_t from = 0, to = 0;  // elements of either side, or of the packed ones
    Strides from_strides, to_strides;
    Read read = Read::Plain;
  };
  struct Way {
    std::vector<Move> moves;                   // to and from the packed elements
    std::vector<std::int64_t> bytes, offsets;  // by rank
    bool packed = true;                        // false: in place, nothing to move
    std::int64_t elements = 0;
  };
  void place(Way& way, bool sending);

  int rank_, from_unit_, to_unit_, wire_unit_;  // reals of an element
  Way send_, receive_;
  std::vector<Move> own_;
  std::vector<T> out_, in_;
};

}  // namespace trn::fft::dist_detail

// See exchange.hpp.
#include "exchange.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <optional>

namespace trn::fft::dist_detail {

namespace {

Strides row_major(const Shape& extent) {
  Strides strides(extent.size(), 1);
  for (std::size_t d = extent.size(); d-- > 1;) strides[d - 1] = strides[d] * extent[d];
  return strides;
}
std::int64_t offset_of(const Region& r, const Shape& begin) {
  std::int64_t offset = r.offset;
  for (std::size_t d = 0; d < begin.size(); ++d) offset += (begin[d] - r.begin[d]) * r.strides[d];
  return offset;
}

struct Meeting {
  Shape begin, extent;
};
std::optional<Meeting> meeting(const Region& a, const Region& b) {
  Meeting m{a.begin, a.extent};
  for (std::size_t d = 0; d < a.begin.size(); ++d) {
    m.begin[d] = std::max(a.begin[d], b.begin[d]);
    m.extent[d] = std::min(a.begin[d] + a.extent[d], b.begin[d] + b.extent[d]) - m.begin[d];
    if (m.extent[d] <= 0) return std::nullopt;
  }
  return m;
}

// A box of plain elements: the longest runs there are, or blocks that stay in the cache where the two sides run across
// each other.
template <class E> void copy_box(Shape extent, const E* from, Strides fs, E* to, Strides ts) {
  // No dimension of one element, the smallest stride written last, neighbours merged.
  struct Dim {
    std::int64_t extent, from, to;
  };
  std::vector<Dim> dims;
  for (std::size_t d = 0; d < extent.size(); ++d)
    if (extent[d] > 1) dims.push_back({extent[d], fs[d], ts[d]});
  std::stable_sort(dims.begin(), dims.end(),
                   [](const Dim& a, const Dim& b) { return std::abs(a.to) > std::abs(b.to); });
  std::vector<Dim> merged;
  for (const Dim& d : dims) {
    if (!merged.empty() && merged.back().from == d.extent * d.from && merged.back().to == d.extent * d.to)
      merged.back() = {merged.back().extent * d.extent, d.from, d.to};
    else
      merged.push_back(d);
  }
  while (merged.size() < 3) merged.insert(merged.begin(), {1, 0, 0});
  const Dim x = merged[merged.size() - 3], y = merged[merged.size() - 2], z = merged.back();
  // At most three dimensions come here: an array's.
  for (std::int64_t i = 0; i < x.extent; ++i) {
    const E* a = from + i * x.from;
    E* b = to + i * x.to;
    if (z.from == 1 && z.to == 1) {
      for (std::int64_t j = 0; j < y.extent; ++j)
        std::memcpy(b + j * y.to, a + j * y.from, sizeof(E) * static_cast<std::size_t>(z.extent));
      continue;
    }
    constexpr std::int64_t kBlock = 32;
    for (std::int64_t j0 = 0; j0 < y.extent; j0 += kBlock) {
      for (std::int64_t k0 = 0; k0 < z.extent; k0 += kBlock) {
        for (std::int64_t j = j0; j < std::min(j0 + kBlock, y.extent); ++j)
          for (std::int64_t k = k0; k < std::min(k0 + kBlock, z.extent); ++k)
            b[j * y.to + k * z.to] = a[j * y.from + k * z.from];
      }
    }
  }
}

// Elements that change on the way, one by one.
template <class T> void convert_box(const Shape& extent, const T* from, const Strides& fs, int from_unit, T* to,
                                    const Strides& ts, int to_unit, Read read) {
  Shape index(extent.size(), 0);
  for (std::int64_t left = element_count(extent); left > 0; --left) {
    std::int64_t a = 0, b = 0;
    for (std::size_t d = 0; d < extent.size(); ++d) a += index[d] * fs[d], b += index[d] * ts[d];
    const T re = from[a * from_unit], im = from_unit == 2 && read != Read::RealPart ? from[2 * a + 1] : T(0);
    to[b * to_unit] = re;
    if (to_unit == 2) to[2 * b + 1] = read == Read::Conjugate ? -im : im;
    for (std::size_t d = extent.size(); d-- > 0 && ++index[d] == extent[d];) index[d] = 0;
  }
}

template <class T> void move_box(const Shape& extent, const T* from, const Strides& fs, int from_unit, T* to,
                                 const Strides& ts, int to_unit, Read read) {
  using C = std::complex<T>;
  if (read != Read::Plain || from_unit != to_unit)
    return convert_box(extent, from, fs, from_unit, to, ts, to_unit, read);
  if (from_unit == 1) return copy_box(extent, from, fs, to, ts);
  copy_box(extent, reinterpret_cast<const C*>(from), fs, reinterpret_cast<C*>(to), ts);
}

}  // namespace

bool Layout::operator==(const Layout& other) const {
  if (real != other.real || regions.size() != other.regions.size()) return false;
  for (std::size_t r = 0; r < regions.size(); ++r) {
    const auto &a = regions[r], &b = other.regions[r];
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i].begin != b[i].begin || a[i].extent != b[i].extent || a[i].offset != b[i].offset ||
          a[i].read != b[i].read)
        return false;
      for (std::size_t d = 0; d < a[i].extent.size(); ++d)
        if (a[i].extent[d] > 1 && a[i].strides[d] != b[i].strides[d]) return false;
    }
  }
  return true;
}

Layout layout_of(const dist::Boxes& boxes, int ranks, bool real) {
  Layout layout{std::vector<std::vector<Region>>(static_cast<std::size_t>(ranks)),
                std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 0), real};
  for (int r = 0; r < boxes.ranks() && r < ranks; ++r) {
    const dist::Boxes::Box& box = boxes.boxes[static_cast<std::size_t>(r)];
    const std::int64_t count = element_count(box.extent);
    layout.elements[static_cast<std::size_t>(r)] = count;
    if (count > 0)
      layout.regions[static_cast<std::size_t>(r)].push_back({box.begin, box.extent, 0, row_major(box.extent)});
  }
  return layout;
}

std::vector<int> partners_of(const Layout& from, const Layout& to, int rank) {
  const auto meet = [&](std::size_t sender, std::size_t receiver) {
    return std::ranges::any_of(from.regions[sender], [&](const Region& a) {
      return std::ranges::any_of(to.regions[receiver], [&](const Region& b) { return meeting(a, b).has_value(); });
    });
  };
  const auto me = static_cast<std::size_t>(rank);
  std::vector<int> all;
  for (std::size_t r = 0; r < from.regions.size(); ++r) {
    if (r == me || meet(me, r) || meet(r, me)) all.push_back(static_cast<int>(r));
  }
  return all;
}

template <class T> Exchange<T>::Exchange(const Layout& from, const Layout& to, int rank)
    : rank_(rank),
      from_unit_(from.real ? 1 : 2),
      to_unit_(to.real ? 1 : 2),
      wire_unit_(std::min(from_unit_, to_unit_)) {
  const std::size_t ranks = from.regions.size(), me = static_cast<std::size_t>(rank);
  const auto moves = [&](std::size_t sender, std::size_t receiver, auto&& each) {
    for (const Region& a : from.regions[sender])
      for (const Region& b : to.regions[receiver])
        if (const auto m = meeting(a, b)) each(a, b, *m);
  };
  moves(me, me, [&](const Region& a, const Region& b, const Meeting& m) {
    own_.push_back({m.extent, offset_of(a, m.begin), offset_of(b, m.begin), a.strides, b.strides, a.read});
  });
  for (Way* way : {&send_, &receive_}) {
    const bool sending = way == &send_;
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::int64_t before = way->elements;
      if (r != me) {
        moves(sending ? me : r, sending ? r : me, [&](const Region& a, const Region& b, const Meeting& m) {
          const Strides packed = row_major(m.extent);
          if (sending)
            way->moves.push_back({m.extent, offset_of(a, m.begin), way->elements, a.strides, packed, a.read});
          else
            way->moves.push_back({m.extent, way->elements, offset_of(b, m.begin), packed, b.strides, Read::Plain});
          way->elements += element_count(m.extent);
        });
      }
      const auto bytes = static_cast<std::int64_t>(sizeof(T)) * wire_unit_;
      way->bytes.push_back((way->elements - before) * bytes);
      way->offsets.push_back(before * bytes);
    }
    place(*way, sending);
  }
  if (send_.packed) out_.resize(static_cast<std::size_t>(send_.elements * wire_unit_));
  if (receive_.packed) in_.resize(static_cast<std::size_t>(receive_.elements * wire_unit_));
}

// Whether what goes to, or comes from, each rank is one stretch of the array as it is: then nothing is packed.
template <class T> void Exchange<T>::place(Way& way, bool sending) {
  if ((sending ? from_unit_ : to_unit_) != wire_unit_) return;
  std::vector<std::int64_t> offsets = way.offsets;
  std::size_t next = 0;
  const auto bytes = static_cast<std::int64_t>(sizeof(T)) * wire_unit_;
  for (std::size_t r = 0; r < way.bytes.size(); ++r) {
    std::int64_t done = 0;
    for (; done < way.bytes[r]; ++next) {
      const Move& m = way.moves[next];
      const Strides &array = sending ? m.from_strides : m.to_strides, &packed = sending ? m.to_strides : m.from_strides;
      const std::int64_t at = (sending ? m.from : m.to) * bytes;
      if (m.read != Read::Plain || (done > 0 && at != offsets[r] + done)) return;
      for (std::size_t d = 0; d < m.extent.size(); ++d)
        if (m.extent[d] > 1 && array[d] != packed[d]) return;
      if (done == 0) offsets[r] = at;
      done += element_count(m.extent) * bytes;
    }
  }
  way.packed = false;
  way.offsets = offsets;
  way.moves.clear();
}

template <class T> std::vector<int> Exchange<T>::partners() const {
  std::vector<int> all;
  for (int r = 0; r < static_cast<int>(send_.bytes.size()); ++r) {
    const auto i = static_cast<std::size_t>(r);
    if (r == rank_ || send_.bytes[i] > 0 || receive_.bytes[i] > 0) all.push_back(r);
  }
  return all;
}

template <class T> void Exchange<T>::run(const comm::Communicator& group, const void* from, void* to) {
  const T* in = static_cast<const T*>(from);
  T* out = static_cast<T*>(to);
  for (const Move& m : send_.moves)
    move_box(m.extent, in + m.from * from_unit_, m.from_strides, from_unit_, out_.data() + m.to * wire_unit_,
             m.to_strides, wire_unit_, m.read);
  const void* sent = send_.packed ? static_cast<const void*>(out_.data()) : from;
  void* received = receive_.packed ? static_cast<void*>(in_.data()) : to;
  group.transport().all_to_all(sent, send_.bytes, send_.offsets, received, receive_.bytes, receive_.offsets);
  for (const Move& m : own_)
    move_box(m.extent, in + m.from * from_unit_, m.from_strides, from_unit_, out + m.to * to_unit_, m.to_strides,
             to_unit_, m.read);
  for (const Move& m : receive_.moves)
    move_box(m.extent, in_.data() + m.from * wire_unit_, m.from_strides, wire_unit_, out + m.to * to_unit_,
             m.to_strides, to_unit_, Read::Plain);
}

template class Exchange<float>;
template class Exchange<double>;

}  // namespace trn::fft::dist_detail

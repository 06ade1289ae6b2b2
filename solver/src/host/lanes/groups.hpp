// Groups of matrices on their way into lanes and back, see lanes.hpp. The matrices that a kernel gives back are done
// again by the function for one matrix, from the originals, which are overwritten only by what succeeded.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include <trn/core/openmp_pieces.hpp>
#include <trn/core/parallel.hpp>
#include <trn/solver/report.hpp>

#include "host/lanes/lanes.hpp"

namespace trn::solver::host::lanes {

enum class Keep : std::uint8_t { All, Lower };  // which elements (i, j) are moved

template <class T> class Group {
 public:
  using R = Real<T>;
  static constexpr std::int64_t kParts = blas::ComplexScalar<T> ? 2 : 1;
  explicit Group(std::int64_t elements) : lanes_(count<R>()), storage_(storage(elements * kParts * lanes_)) {}

  [[nodiscard]] std::int64_t lanes() const { return lanes_; }
  [[nodiscard]] std::int64_t step() const { return kParts * lanes_; }  // between elements
  [[nodiscard]] R* data() { return aligned(storage_.data()); }
  [[nodiscard]] unsigned char* bad() { return bad_; }
  // Element number e of lane l.
  [[nodiscard]] T at(const R* from, std::int64_t e, std::int64_t l) const {
    const R* x = from + e * step() + l;
    if constexpr (kParts == 2) {
      return T(x[0], x[lanes_]);
    } else {
      return *x;
    }
  }

  // The matrices first .. first + used - 1 are in the lanes; the other lanes repeat the last one.
  void begin(std::int64_t first, std::int64_t used) {
    first_ = first, used_ = used;
    std::fill(bad_, bad_ + kMostLanes, static_cast<unsigned char>(0));
  }
  template <class F> void for_good(const F& f) const {
    for (std::int64_t l = 0; l < used_; ++l) {
      if (!bad_[l]) f(first_ + l, l);
    }
  }

  // Column by column, so that a column of all lanes stays in the cache. address(p) is matrix p's.
  template <class A>
  void pack(const A& address, std::int64_t m, std::int64_t n, std::int64_t rs, std::int64_t cs, Keep keep, bool conj) {
    if constexpr (kParts == 1) {
      if (rs == 1) {
        const T* from[kMostLanes];
        if (cs == m && keep == Keep::All) {  // packed: one long column
          for (std::int64_t l = 0; l < lanes_; ++l) from[l] = address(first_ + std::min(l, used_ - 1));
          return interleave<R>(m * n, from, data());
        }
        for (std::int64_t j = 0; j < n; ++j) {
          const std::int64_t i = keep == Keep::Lower ? j : 0;
          for (std::int64_t l = 0; l < lanes_; ++l) from[l] = address(first_ + std::min(l, used_ - 1)) + j * cs + i;
          interleave<R>(m - i, from, data() + (j * m + i) * lanes_);
        }
        return;
      }
    }
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t l = 0; l < lanes_; ++l) {
        const T* from = address(first_ + std::min(l, used_ - 1)) + j * cs;
        R* to = data() + j * m * step() + l;
        for (std::int64_t i = keep == Keep::Lower ? j : 0; i < m; ++i) put(to + i * step(), from[i * rs], conj);
      }
    }
  }
  template <class A> void unpack(const A& address, std::int64_t m, std::int64_t n, std::int64_t rs, std::int64_t cs,
                                 Keep keep, bool conj) {
    if constexpr (kParts == 1) {
      if (rs == 1) {
        T* to[kMostLanes];
        for (std::int64_t j = 0; j < n; ++j) {
          const std::int64_t i = keep == Keep::Lower ? j : 0;
          std::fill_n(to, lanes_, nullptr);
          for_good([&](std::int64_t p, std::int64_t l) { to[l] = address(p) + j * cs + i; });
          separate<R>(m - i, data() + (j * m + i) * lanes_, to);
        }
        return;
      }
    }
    for (std::int64_t j = 0; j < n; ++j) {
      for_good([&](std::int64_t p, std::int64_t l) {
        T* to = address(p) + j * cs;
        const R* from = data() + j * m * step() + l;
        for (std::int64_t i = keep == Keep::Lower ? j : 0; i < m; ++i) to[i * rs] = get(from + i * step(), conj);
      });
    }
  }
  // Panels of four columns (then single ones) have had the exchanges up to their end; the later ones are made here.
  // After exchanges s_k, s_k+1, ... element i is what was at rows[i]; an exchange more in front turns rows[i] by s.
  template <class A> void unpack_lu(const A& address, std::int64_t m, std::int64_t n, std::int64_t rs, std::int64_t cs,
                                    const int* pivots) {
    const std::int64_t k = std::min(m, n), whole = k / 4 * 4;
    unsigned char rows[kMostLanes][kOrder], places[kMostLanes][kOrder];
    for (std::int64_t l = 0; l < used_; ++l) {
      for (std::int64_t i = 0; i < m; ++i) rows[l][i] = places[l][i] = static_cast<unsigned char>(i);
    }
    std::int64_t made = k;  // exchanges from this one on are in `rows`
    // Numbers of one lane next to one another first: a vector register is cheaper than a walk through the lanes. Some
    // columns at a time; those from `held` on are there.
    constexpr std::int64_t kNumbers = 64;
    R columns[kMostLanes][kNumbers];
    const std::int64_t together = std::max<std::int64_t>(kNumbers / std::max<std::int64_t>(m, 1), 1);
    std::int64_t held = n;
    for (std::int64_t j = n - 1; j >= 0; --j) {
      const std::int64_t end = j >= k ? k : j >= whole ? j + 1 : j / 4 * 4 + 4;
      for (; made > end; --made) {
        for (std::int64_t l = 0; l < used_; ++l) {
          const auto a = static_cast<std::size_t>(made - 1);
          const auto b = static_cast<std::size_t>(pivots[(made - 1) * lanes_ + l]);
          std::swap(rows[l][places[l][a]], rows[l][places[l][b]]);
          std::swap(places[l][a], places[l][b]);
        }
      }
      if constexpr (kParts == 1) {
        if (j < held) {
          held = std::max<std::int64_t>(j + 1 - together, 0);
          R* separated[kMostLanes];
          for (std::int64_t l = 0; l < lanes_; ++l) separated[l] = l < used_ && !bad_[l] ? columns[l] : nullptr;
          separate<R>((j + 1 - held) * m, data() + held * m * lanes_, separated);
        }
        for_good([&](std::int64_t p, std::int64_t l) {
          T* to = address(p) + j * cs;
          const R* from = columns[l] + (j - held) * m;
          for (std::int64_t i = 0; i < m; ++i) to[i * rs] = from[rows[l][i]];
        });
        continue;
      }
      for_good([&](std::int64_t p, std::int64_t l) {
        T* to = address(p) + j * cs;
        const R* from = data() + j * m * step() + l;
        for (std::int64_t i = 0; i < m; ++i) to[i * rs] = get(from + rows[l][i] * step(), false);
      });
    }
  }
  // The upper triangle from the lower one.
  void mirror(std::int64_t n) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = j + 1; i < n; ++i) {
        std::copy_n(data() + (j * n + i) * step(), step(), data() + (i * n + j) * step());
      }
    }
  }

 private:
  static constexpr std::size_t kAlign = 64;
  static std::vector<R> storage(std::int64_t numbers) {
    return std::vector<R>(static_cast<std::size_t>(numbers) + kAlign / sizeof(R));
  }
  static R* aligned(R* p) {
    return reinterpret_cast<R*>((reinterpret_cast<std::uintptr_t>(p) + kAlign - 1) / kAlign * kAlign);
  }
  void put(R* to, const T& x, [[maybe_unused]] bool conj) const {
    if constexpr (kParts == 2) {
      to[0] = x.real(), to[lanes_] = conj ? -x.imag() : x.imag();
    } else {
      to[0] = x;
    }
  }
  T get(const R* from, [[maybe_unused]] bool conj) const {
    if constexpr (kParts == 2) {
      return T(from[0], conj ? -from[lanes_] : from[lanes_]);
    } else {
      return from[0];
    }
  }

  std::int64_t lanes_, first_ = 0, used_ = 0;
  std::vector<R> storage_;
  unsigned char bad_[kMostLanes] = {};
};

// group(g) for all matrices, one(p) for those that came back.
template <class T, class One, class F>
std::vector<Outcome> for_groups(std::int64_t matrices, std::int64_t elements, const One& one, const F& group) {
  constexpr std::int64_t kGroups = 8;  // of a piece
  const std::int64_t lanes = count<Real<T>>(), piece = kGroups * lanes, pieces = (matrices + piece - 1) / piece;
  std::vector<Outcome> outcomes(static_cast<std::size_t>(matrices));
  const int threads = loop_threads(matrices * elements > 1 << 16);
  std::vector<std::unique_ptr<Group<T>>> memory(static_cast<std::size_t>(std::max(threads, 1)));
  openmp_pieces(pieces, threads, [&](std::int64_t i, int worker) {
    std::unique_ptr<Group<T>>& mine = memory[static_cast<std::size_t>(worker)];
    if (!mine) mine = std::make_unique<Group<T>>(elements);
    const std::int64_t last = std::min((i + 1) * piece, matrices);
    for (std::int64_t p = i * piece; p < last; p += lanes) {
      const std::int64_t used = std::min(lanes, last - p);
      mine->begin(p, used);
      group(*mine);
      for (std::int64_t l = 0; l < used; ++l) {
        if (mine->bad()[l]) outcomes[static_cast<std::size_t>(p + l)] = one(p + l);
      }
    }
  });
  return outcomes;
}

}  // namespace trn::solver::host::lanes

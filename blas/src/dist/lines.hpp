// Whole lines of an operand, a block of them on every rank of the group: rows of op(A), or columns of op(B). What an
// exact product must know of all of k (norms, what scaling costs, elements that are computed again) is made from these,
// where k itself is divided among ranks.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include <trn/comm/agreement.hpp>
#include <trn/comm/matrix.hpp>

#include "exact/product.hpp"

namespace trn::blas::distributed {

template <class T> class Lines {
 public:
  // Collective.
  Lines(const dist::Matrix<T>& x, Op op, exact::OperandSide side)
      : side_(side),
        by_rows_((side == exact::OperandSide::Left) == (op == Op::N)),
        conj_(ComplexScalar<T> && op == Op::C),
        count_(by_rows_ ? x.rows() : x.columns()),
        depth_(by_rows_ ? x.columns() : x.rows()),
        block_(std::max<std::int64_t>(1, (count_ + x.group().size() - 1) / x.group().size())),
        lines_(x.redistributed(by_rows_ ? dist::BlockCyclic{count_, depth_, block_, depth_, {x.group().size(), 1}}
                                        : dist::BlockCyclic{depth_, count_, depth_, block_, {1, x.group().size()}})) {}

  // This rank's lines, and any lines without their numbers.
  [[nodiscard]] exact::Operand operand() const {
    const MatrixView<T> mine = by_rows_ ? lines_.local() : lines_.local().transposed();
    return exact::Operand(lines_.executor(), dtype_of<T>, mine.data(), mine.rows(), depth_, mine.row_stride(),
                          mine.column_stride(), conj_, side_);
  }
  [[nodiscard]] exact::Operand without_numbers(std::int64_t lines) const {
    return exact::Operand(Executor::host(), dtype_of<T>, nullptr, lines, depth_, depth_, 1, conj_, side_);
  }

  // What is known of a line.
  struct Facts {
    std::int64_t exponent = 0, special = 0;
    exact::Norms norms, errors;
  };
  // Collective: of all lines, in their order. `mine` was measured.
  [[nodiscard]] std::vector<Facts> gather(const exact::Operand& mine, const std::vector<exact::Norms>& errors) const {
    const comm::Communicator& group = lines_.group();
    std::vector<std::int64_t> sent(static_cast<std::size_t>(block_ * kWords), 0),
        all(sent.size() * static_cast<std::size_t>(group.size()));
    // A failure elsewhere may have left fewer.
    const std::size_t known = std::min({mine.exponent.size(), mine.norms.size(), errors.size()});
    for (std::size_t i = 0; i < known; ++i) {
      std::int64_t* to = sent.data() + static_cast<std::int64_t>(i) * kWords;
      *to++ = mine.exponent[i], *to++ = mine.special[i];
      for (const exact::Norms* n : {&mine.norms[i], &errors[i]}) {
        for (const long double x : {n->one, n->two, n->largest}) to = write(x, to);
      }
    }
    const Executor host = Executor::host();
    comm::all_gather(group, View<const std::int64_t>(host, sent.data(), {block_ * kWords}),
                     View<std::int64_t>(host, all.data(), {group.size(), block_ * kWords}));
    std::vector<Facts> facts(static_cast<std::size_t>(count_));
    for (std::size_t i = 0; i < facts.size(); ++i) {
      const std::int64_t* from = all.data() + static_cast<std::int64_t>(i) * kWords;
      Facts& f = facts[i];
      f.exponent = *from++, f.special = *from++;
      for (exact::Norms* n : {&f.norms, &f.errors}) {
        for (long double* x : {&n->one, &n->two, &n->largest}) from = read(from, *x);
      }
    }
    return facts;
  }

  // Collective: the numbers of these lines, which ascend, one after another. Every rank may want others.
  [[nodiscard]] std::vector<T> fetch(const std::vector<std::int64_t>& wanted, comm::Agreement& agreement) const {
    const comm::Communicator& group = lines_.group();
    const auto ranks = static_cast<std::size_t>(group.size());
    const Executor host = Executor::host();
    const auto flat = [&](auto& v) {
      return View<std::remove_pointer_t<decltype(v.data())>>(host, v.data(), {static_cast<std::int64_t>(v.size())});
    };
    std::vector<std::int64_t> counts(ranks, 0), theirs(ranks, 0);
    for (const std::int64_t line : wanted) ++counts[static_cast<std::size_t>(line / block_)];
    comm::all_to_all(group, flat(counts), flat(theirs));
    std::int64_t asked_count = 0;
    for (const std::int64_t n : theirs) asked_count += n;
    std::vector<std::int64_t> asked(static_cast<std::size_t>(asked_count));
    comm::all_to_all_v(group, flat(wanted), counts, flat(asked), theirs);
    std::vector<T> given(static_cast<std::size_t>(asked_count * depth_)),
        got(wanted.size() * static_cast<std::size_t>(depth_));
    agreement.attempt([&] {
      const MatrixView<T> mine = by_rows_ ? lines_.local() : lines_.local().transposed();
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const std::int64_t line = asked[i] - group.rank() * block_;
        copy(View<const T>(MatrixView<const T>(mine.block(line, 0, 1, depth_))),
             View<T>(host, given.data() + static_cast<std::int64_t>(i) * depth_, {1, depth_}));
      }
    });
    for (std::size_t r = 0; r < ranks; ++r) counts[r] *= depth_, theirs[r] *= depth_;
    comm::all_to_all_v(group, flat(given), theirs, flat(got), counts);
    return got;
  }

 private:
  static constexpr std::int64_t kLong = 2, kWords = 2 + 6 * kLong;  // of a long double; of a line
  static_assert(sizeof(long double) <= kLong * sizeof(std::int64_t));
  static std::int64_t* write(long double x, std::int64_t* to) {
    std::array<std::int64_t, 2> words{};
    std::memcpy(words.data(), &x, sizeof x);
    *to++ = words[0], *to++ = words[1];
    return to;
  }
  static const std::int64_t* read(const std::int64_t* from, long double& x) {
    std::memcpy(&x, from, sizeof x);
    return from + kLong;
  }

  exact::OperandSide side_;
  bool by_rows_;  // of what is stored
  bool conj_;
  std::int64_t count_, depth_, block_;
  dist::Matrix<T> lines_;
};

}  // namespace trn::blas::distributed

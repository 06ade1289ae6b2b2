// Attention, forward. K^T and V of a head stay in SBUF; blocks of 128 queries pass by twice: scores and their maxima,
// then scores again, exponentials with the maximum as bias and their sums from the same instruction, P transposed by
// the Tensor Engine, P V into one bank. So no sum is ever rescaled and a row may have any number of blocks.
//
// Engines: in bfloat16 a block takes the Tensor Engine about 57 ns for each of four products, Vector 133 ns for the
// maxima and half of the evictions of P^T, Scalar 107 ns for the exponentials and the other half. Each engine works in
// the order of the program, so it is recorded as a pipeline over the groups of four blocks of all rows: the first pass
// of one group, the second of an earlier one whose row has its maximum, the transposes of one before that, and the
// products with V of one more before.
#include <algorithm>

#include <trn/core/error.hpp>
#include <trn/tile/stores.hpp>

#include "attention_blocks.hpp"
#include "ordered.hpp"

namespace trn::sparse {

using namespace trn::tile;
using device::at;

namespace {

using Block = AttentionMask::Block;

class Forward {
 public:
  Forward(const AttentionShape& shape, const Machine& machine)
      : s_(shape), b_("sparse_attention", machine), t_(b_, s_) {
    q_ = b_.input("q", DType::Float32, {s_.heads, s_.queries, s_.d});
    k_ = b_.input("k", DType::Float32, {s_.kv_heads, s_.keys, s_.d});
    v_ = b_.input("v", DType::Float32, {s_.kv_heads, s_.keys, s_.dv});
    o_ = b_.output("o", DType::Float32, {s_.heads, s_.queries, s_.dv});
    if (s_.sums) log_sums_ = b_.output("log_sums", DType::Float32, {s_.heads, s_.queries});
    query_blocks_ = blocks::ceil_div(s_.queries, t_.side), key_blocks_ = blocks::ceil_div(s_.keys, t_.side);
    rows_.resize(static_cast<std::size_t>(query_blocks_));
    for (const Block& b : s_.blocks) rows_[static_cast<std::size_t>(b.row)].push_back(b);
    if (s_.dead) {
      alive_ = b_.sbuf("alive_tile", t_.side, {query_blocks_}, DType::Float32);
      b_.dma_copy(alive_, b_.input("alive", DType::Float32, {t_.side, query_blocks_}));
    }
  }

  Program build() {
    t_.load_parts();
    const std::int64_t group = s_.heads / s_.kv_heads;
    b_.parallel("kv", s_.kv_heads, [&](Affine kv) {
      t_.rings.clear();
      kt_ = b_.sbuf("kt", t_.side, {t_.chunks(s_.d), std::max<std::int64_t>(1, s_.keys)}, t_.word);
      values_ = b_.sbuf("values", t_.side, {std::max<std::int64_t>(1, key_blocks_), s_.dv}, t_.word);
      k_loaded_.assign(static_cast<std::size_t>(key_blocks_), false), v_loaded_ = k_loaded_;
      kv_ = kv;
      if (!s_.blocks.empty() && group > 1) load();  // for all heads of the recorded loop
      b_.parallel("member", group, [&](Affine g) {
        t_.rings.clear();
        head(kv * group + g);
      });
    });
    return device::ordered(static_stores(b_.finish()), b_.machine());
  }

 private:
  // K^T and V of all blocks. One head by itself takes them where it needs them: a few blocks beyond the first that is
  // missing, so that the first scores do not wait for the last keys.
  void load() {
    for (std::int64_t j = 0; j < key_blocks_; ++j) need_keys(j), need_values(j);
  }
  void need_keys(std::int64_t j) {
    t_.staged_blocks("k_stage", at(k_(ds(kv_, 1)), 0, 0), s_.d, s_.dead_keys, j, k_loaded_,
                     [&](std::int64_t block, const Access& stage) {
                       t_.transposed(kt_(all, all, ds(block * t_.side, t_.keys_of(block))), stage, 1.0);
                     });
  }
  void need_values(std::int64_t j) {
    t_.staged_blocks("v_stage", at(v_(ds(kv_, 1)), 0, 0), s_.dv, s_.dead_keys, j, v_loaded_,
                     [&](std::int64_t block, const Access& stage) {
                       t_.natural(at(values_, 0, block)(ds(0, t_.keys_of(block)), all), stage);
                     });
  }
  // Keys of the group `n`, or values; nothing behind the last one.
  template <class Need> void need_for(std::size_t n, const Need& need) {
    if (n >= groups_.size()) return;
    const std::vector<Block>& list = row(work_[groups_[n].row].block);
    for (std::size_t b = groups_[n].first; b < std::min(list.size(), groups_[n].first + kGroup); ++b)
      need(list[b].column);
  }

  // 128 queries on their way, and one group of their blocks.
  struct Rows {
    std::int64_t block = -1, rows = 0, groups = 0;
    std::size_t last = 0;  // number of its last group
    Access qt, negative, most, sums, out;
  };
  struct Group {
    std::size_t row, first;  // of rows in work, of the row's blocks
    Access p, pt;
  };

  void head(const Affine& h) {
    h_ = h;
    maxima_ = b_.sbuf("maxima", t_.side, {query_blocks_}, DType::Float32);
    totals_ = b_.sbuf("totals", t_.side, {query_blocks_}, DType::Float32);
    b_.memset(totals_, 1.0);
    b_.memset(maxima_, s_.sums ? -1e30 : 0.0);  // negative maxima: a row without blocks has log-sum 1e30
    work_.clear(), groups_.clear();
    for (std::int64_t i = 0; i < query_blocks_; ++i) {
      const std::size_t count = row(i).size();
      if (count == 0) {
        nothing(i);
        continue;
      }
      for (std::size_t first = 0; first < count; first += kGroup) groups_.push_back({work_.size(), first, {}, {}});
      Rows r;
      r.block = i, r.rows = t_.rows_of(i), r.last = groups_.size() - 1;
      r.groups = static_cast<std::int64_t>((count + kGroup - 1) / kGroup);
      work_.push_back(r);
    }
    const std::size_t end = groups_.size();
    std::size_t maximum = 0, exponential = 0, turn = 0, value = 0;
    while (value < end) {
      if (maximum < end && groups_[maximum].row < groups_[std::min(exponential, end - 1)].row + kRows)
        first_pass(maximum++);
      if (exponential < end && (maximum == end || work_[groups_[exponential].row].last + kAhead < maximum))
        second_pass(exponential++);
      if (turn < exponential && (exponential == end || turn + 1 < exponential)) transpose(groups_[turn++]);
      if (value < turn && (turn == end || value + 1 < turn)) times_values(groups_[value++]);
    }
    if (s_.sums) store_sums();
  }

  void nothing(std::int64_t i) {
    const std::int64_t rows = t_.rows_of(i);
    const Access zero = t_.rings.take("result", Space::Sbuf, rows, {s_.dv}, DType::Float32, 3, s_.dv);
    b_.memset(zero, 0.0);
    b_.dma_copy(at(o_(ds(h_, 1), ds(i * t_.side, rows)), 0, 0), zero);
  }

  const std::vector<Block>& row(std::int64_t i) const { return rows_[static_cast<std::size_t>(i)]; }

  // (rows, keys of the group) in one bank; four blocks at most, the last of the row maybe with fewer keys.
  Access scores(const Rows& r, std::size_t first, std::size_t end, const char* name) {
    const std::vector<Block>& list = row(r.block);
    std::int64_t keys = 0;
    for (std::size_t n = first; n < end; ++n) keys += t_.keys_of(list[n].column);
    const Access to = t_.rings.take(name, Space::Psum, r.rows, {keys}, DType::Float32, 2, t_.bank);
    std::int64_t at_key = 0;
    for (std::size_t n = first; n < end;) {  // neighbours in one matmul
      std::size_t last = n;
      std::int64_t width = t_.keys_of(list[n].column);
      while (last + 1 < end && list[last + 1].column == list[last].column + 1) width += t_.keys_of(list[++last].column);
      t_.multiply(to(all, ds(at_key, width)), r.qt, kt_(all, all, ds(list[n].column * t_.side, width)), s_.d);
      for (std::int64_t place = at_key; n <= last; ++n) {
        const std::int64_t own = t_.keys_of(list[n].column);
        t_.mask(to(all, ds(place, own)), list[n].part);
        place += own;
      }
      at_key += width;
    }
    return to;
  }

  void load_queries(Rows& r) {
    const std::int64_t chunks = t_.chunks(s_.d);
    r.qt = t_.rings.take("qt", Space::Sbuf, t_.side, {chunks, t_.side}, t_.word, kRows + 2, chunks * t_.side)(
        all, all, ds(0, r.rows));
    t_.transposed(r.qt, t_.staged(at(q_(ds(h_, 1)), 0, 0), r.block, s_.d, s_.dead_queries), t_.scale);
  }

  void first_pass(std::size_t number) {
    Group& g = groups_[number];
    for (const std::size_t n : {number, number + 1}) need_for(n, [&](std::int64_t j) { need_keys(j); });
    Rows& r = work_[g.row];
    const std::size_t count = row(r.block).size();
    if (g.first == 0) {
      load_queries(r);
      r.most = t_.rings.take("most", Space::Sbuf, r.rows, {r.groups}, DType::Float32, 4, most_groups());
      r.negative = maxima_(ds(0, r.rows), ds(r.block, 1));
    }
    const Access sc = scores(r, g.first, std::min(count, g.first + kGroup), "first_scores");
    b_.tensor_reduce(r.most(all, ds(static_cast<std::int64_t>(g.first / kGroup), 1)), AluOp::Maximum, sc);
    if (g.first + kGroup >= count) b_.tensor_reduce(r.negative, AluOp::Maximum, r.most, 1, true);
  }

  void second_pass(std::size_t number) {
    Group& g = groups_[number];
    need_for(number, [&](std::int64_t j) { need_values(j); });
    Rows& r = work_[g.row];
    if (g.first == 0) r.sums = t_.rings.take("sums", Space::Sbuf, r.rows, {r.groups}, DType::Float32, 8, most_groups());
    const Access sc = scores(r, g.first, std::min(row(r.block).size(), g.first + kGroup), "second_scores");
    g.p = t_.rings.take("p", Space::Sbuf, r.rows, {sc.free_size()}, t_.word, 4, t_.bank);
    b_.activation(g.p, ActFunction::Exp, sc,
                  {.bias = r.negative, .reduce_res = r.sums(all, ds(static_cast<std::int64_t>(g.first / kGroup), 1))});
  }

  void transpose(Group& g) {
    const Rows& r = work_[g.row];
    const std::vector<Block>& list = row(r.block);
    const std::size_t end = std::min(list.size(), g.first + kGroup);
    const auto count = static_cast<std::int64_t>(end - g.first);
    const Access turned =
        t_.rings.take("p_turned", Space::Psum, t_.side, {count, r.rows}, t_.word, 2, t_.bank * 4 / size_bytes(t_.word));
    g.pt = t_.rings.take("pt", Space::Sbuf, t_.side, {count, r.rows}, t_.word, 4, t_.bank);
    std::int64_t whole = 0;
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t keys = t_.keys_of(list[g.first + static_cast<std::size_t>(n)].column);
      b_.nc_transpose(at(turned, 0, n)(ds(0, keys), all), g.p(all, ds(n * t_.side, keys)));
      if (keys == t_.side) ++whole;
    }
    const Engine engine = turns_++ % 2 == 0 ? Engine::Scalar : Engine::Vector;
    if (whole > 0) blocks::scale(b_, g.pt(all, ds(0, whole)), turned(all, ds(0, whole)), 1.0, engine);
    if (whole < count) {  // the last keys
      const std::int64_t keys = t_.keys_of(list[end - 1].column);
      blocks::scale(b_, at(g.pt, 0, whole)(ds(0, keys), all), at(turned, 0, whole)(ds(0, keys), all), 1.0, engine);
    }
  }

  // out += P V for the blocks of one group; behind the last one of a row O is complete.
  void times_values(const Group& g) {
    Rows& r = work_[g.row];
    const std::vector<Block>& list = row(r.block);
    const std::size_t end = std::min(list.size(), g.first + kGroup);
    if (g.first == 0)  // as many as a bank holds
      r.out = t_.rings.take("out", Space::Psum, r.rows, {s_.dv}, DType::Float32, t_.bank / s_.dv, s_.dv);
    for (std::size_t n = g.first; n < end; ++n) {
      const std::int64_t keys = t_.keys_of(list[n].column);
      b_.nc_matmul(r.out, at(g.pt, 0, static_cast<std::int64_t>(n - g.first))(ds(0, keys), all),
                   at(values_, 0, list[n].column)(ds(0, keys), all), {.accumulate = n > 0 ? 1 : 0});
    }
    if (end < list.size()) return;
    const Access total = totals_(ds(0, r.rows), ds(r.block, 1));
    b_.tensor_reduce(total, AluOp::Add, r.sums);
    const Access inverse = t_.rings.take("inverse", Space::Sbuf, r.rows, {1}, DType::Float32, 2, 1);
    b_.reciprocal(inverse, total);
    if (s_.dead)
      b_.tensor_tensor(inverse, inverse, alive_(ds(0, r.rows), ds(r.block, 1)), AluOp::Multiply, Engine::Vector);
    const Access result = t_.rings.take("result", Space::Sbuf, r.rows, {s_.dv}, DType::Float32, 3, s_.dv);
    blocks::scale(b_, result, r.out, inverse, Engine::Vector);
    b_.dma_copy(at(o_(ds(h_, 1), ds(r.block * t_.side, r.rows)), 0, 0), result);
  }

  // log(total) + maximum; 1e30 for queries without keys.
  void store_sums() {
    const Access logs = b_.sbuf("logs", t_.side, {query_blocks_}, DType::Float32);
    b_.activation(logs, ActFunction::Log, totals_);
    b_.tensor_tensor(logs, logs, maxima_, AluOp::Subtract, Engine::Vector);
    if (s_.dead) {
      const Access gone = b_.sbuf("gone", t_.side, {query_blocks_}, DType::Float32);
      b_.tensor_scalar(gone, alive_, AluOp::Multiply, -1e30,
                       {.op1 = AluOp::Add, .operand1 = 1e30, .engine = Engine::Vector});
      b_.tensor_tensor(logs, logs, gone, AluOp::Maximum, Engine::Vector);
    }
    const std::int64_t whole = s_.queries / t_.side, rest = s_.queries % t_.side;
    const Access to = at(log_sums_(ds(h_, 1), all), 0, 0);
    if (whole > 0) b_.dma_copy(to(ds(0, whole * t_.side)).split(0, t_.side).permute({1, 0}), logs(all, ds(0, whole)));
    if (rest > 0)
      b_.dma_copy(to(ds(whole * t_.side, rest)).split(0, rest).permute({1, 0}), logs(ds(0, rest), ds(whole, 1)));
  }

  std::int64_t most_groups() const {
    std::size_t most = 1;
    for (const auto& r : rows_) most = std::max(most, (r.size() + kGroup - 1) / kGroup);
    return static_cast<std::int64_t>(most);
  }

  // Blocks of a group; groups that the first pass of the next row is ahead of the second; rows that have begun the
  // first pass and not ended the second: each has a place for its Q^T, and so has the row after them.
  static constexpr std::size_t kGroup = 4, kAhead = 2, kRows = 6;
  const AttentionShape& s_;
  Builder b_;
  device::AttentionBlocks t_;
  Access q_, k_, v_, o_, log_sums_, alive_, kt_, values_, maxima_, totals_;
  Affine h_ = 0, kv_ = 0;
  std::vector<bool> k_loaded_, v_loaded_;
  std::int64_t query_blocks_ = 0, key_blocks_ = 0, turns_ = 0;
  std::vector<std::vector<Block>> rows_;
  std::vector<Rows> work_;
  std::vector<Group> groups_;
};

}  // namespace

Program attention_program(const AttentionShape& shape, const Machine& machine) {
  return Forward(shape, machine).build();
}

}  // namespace trn::sparse

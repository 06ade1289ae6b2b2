// Attention, backward. P is made again from the log-sums. Blocks go by column by column: with queries on partitions P
// and dS are stationary as they are for dV = P^T dO and dK = dS^T Q, which gather in PSUM while a column lasts; dS^T,
// by one transpose, gives a block's part of dQ, which is added up in SBUF.
//
// Q, Q^T, dO, dO^T of a head and the sums for dQ stay in SBUF; K and V come a block at a time. With grouped queries the
// sums for dK and dV of all keys stay there too, from one head of the group to the next. In bfloat16 a block takes the
// Tensor Engine seven products of about 57 ns, Vector 258 ns for dS and 148 for its share of four blocks' sums of dQ,
// Scalar 269 ns for the exponentials and 118 for its share of four blocks' dS^T.
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

class Backward {
 public:
  Backward(const AttentionShape& shape, const Machine& machine)
      : s_(shape), b_("sparse_attention_backward", machine), t_(b_, s_), grouped_(s_.heads > s_.kv_heads) {
    const auto in = [&](const char* name, std::int64_t heads, std::int64_t rows, std::int64_t columns) {
      return b_.input(name, DType::Float32, {heads, rows, columns});
    };
    q_ = in("q", s_.heads, s_.queries, s_.d), k_ = in("k", s_.kv_heads, s_.keys, s_.d);
    v_ = in("v", s_.kv_heads, s_.keys, s_.dv), o_ = in("o", s_.heads, s_.queries, s_.dv);
    do_ = in("d_o", s_.heads, s_.queries, s_.dv);
    log_sums_ = b_.input("log_sums", DType::Float32, {s_.heads, s_.queries});
    dq_ = b_.output("d_q", DType::Float32, {s_.heads, s_.queries, s_.d});
    dk_ = b_.output("d_k", DType::Float32, {s_.kv_heads, s_.keys, s_.d});
    dv_ = b_.output("d_v", DType::Float32, {s_.kv_heads, s_.keys, s_.dv});
    query_blocks_ = blocks::ceil_div(s_.queries, t_.side), key_blocks_ = blocks::ceil_div(s_.keys, t_.side);
    columns_.resize(static_cast<std::size_t>(key_blocks_));
    for (const Block& b : s_.blocks) columns_[static_cast<std::size_t>(b.column)].push_back(b);
  }

  Program build() {
    t_.load_parts();
    const std::int64_t group = s_.heads / s_.kv_heads;
    b_.parallel("kv", s_.kv_heads, [&](Affine kv) {
      kv_ = kv;
      if (grouped_ && key_blocks_ > 0) {
        dk_sums_ = b_.sbuf("dk_sums", t_.side, {key_blocks_, s_.d}, DType::Float32);
        dv_sums_ = b_.sbuf("dv_sums", t_.side, {key_blocks_, s_.dv}, DType::Float32);
        b_.memset(dk_sums_, 0.0);
        b_.memset(dv_sums_, 0.0);
      }
      b_.sequential("member", group, [&](Affine g) {
        t_.rings.clear();
        head(kv * group + g);
      });
      t_.rings.clear();
      for (std::int64_t j = 0; grouped_ && j < key_blocks_; ++j) {
        const std::int64_t keys = t_.keys_of(j);
        store(dk_, j, keys, at(dk_sums_, 0, j)(ds(0, keys), all), true);
        store(dv_, j, keys, at(dv_sums_, 0, j)(ds(0, keys), all), false);
      }
    });
    return device::ordered(static_stores(b_.finish()), b_.machine());
  }

 private:
  void head(const Affine& h) {
    h_ = h;
    if (query_blocks_ > 0) prepare_queries();
    all_columns();
  }

  // dQ of a block of queries that no further block of keys adds to.
  void finish_queries(std::int64_t i) {
    const std::int64_t rows = t_.rows_of(i);
    const Access sums = at(dq_sums_, 0, i)(ds(0, rows), all);
    blocks::scale(b_, sums, sums, factor(rows), Engine::Scalar);
    b_.dma_copy(at(dq_(ds(h_, 1), ds(i * t_.side, rows)), 0, 0), sums);
  }

  void prepare_queries() {
    const Shape qt{t_.chunks(s_.d), query_blocks_ * t_.side}, ot{t_.chunks(s_.dv), query_blocks_ * t_.side};
    query_ = b_.sbuf("query", t_.side, {query_blocks_, s_.d}, t_.word);
    qt_ = b_.sbuf("qt", t_.side, qt, t_.word);
    slope_ = b_.sbuf("slope", t_.side, {query_blocks_, s_.dv}, t_.word);
    slope_t_ = b_.sbuf("slope_t", t_.side, ot, t_.word);
    dots_ = b_.sbuf("dots", t_.side, {query_blocks_}, DType::Float32);
    negative_ = b_.sbuf("negative", t_.side, {query_blocks_}, DType::Float32);
    dq_sums_ = b_.sbuf("dq_sums", t_.side, {query_blocks_, s_.d}, DType::Float32);
    b_.memset(dq_sums_, 0.0);
    b_.memset(negative_, 0.0);
    const std::int64_t whole = s_.queries / t_.side, rest = s_.queries % t_.side;
    const Access from = at(log_sums_(ds(h_, 1), all), 0, 0);
    if (whole > 0)
      b_.dma_copy(negative_(all, ds(0, whole)), from(ds(0, whole * t_.side)).split(0, t_.side).permute({1, 0}));
    if (rest > 0)
      b_.dma_copy(negative_(ds(0, rest), ds(whole, 1)), from(ds(whole * t_.side, rest)).split(0, rest).permute({1, 0}));
    b_.tensor_scalar(negative_, negative_, AluOp::Multiply, -1.0, {.engine = Engine::Vector});
    q_loaded_.assign(static_cast<std::size_t>(query_blocks_), false), slope_loaded_ = q_loaded_;
  }
  // Q, dO and O of a block of queries, and of a few behind it: where they are needed, so that the first products do not
  // wait for the last queries.
  void need_queries(std::int64_t block) {
    const auto part = [&](std::int64_t i) { return ds(i * t_.side, t_.rows_of(i)); };
    t_.staged_blocks("q_stage", at(q_(ds(h_, 1)), 0, 0), s_.d, s_.dead_queries, block, q_loaded_,
                     [&](std::int64_t i, const Access& stage) {
                       t_.natural(at(query_, 0, i)(ds(0, t_.rows_of(i)), all), stage);
                       t_.transposed(qt_(all, all, part(i)), stage, t_.scale);
                     });
    t_.staged_blocks("slope_stage", at(do_(ds(h_, 1)), 0, 0), s_.dv, s_.dead_queries, block, slope_loaded_,
                     [&](std::int64_t i, const Access& stage) {
                       t_.natural(at(slope_, 0, i)(ds(0, t_.rows_of(i)), all), stage);
                       t_.transposed(slope_t_(all, all, part(i)), stage, 1.0);
                       const Access o = t_.staged(at(o_(ds(h_, 1)), 0, 0), i, s_.dv, s_.dead_queries);
                       b_.tensor_tensor(o, o, stage, AluOp::Multiply, t_.beside());
                       b_.tensor_reduce(dots_(ds(0, t_.rows_of(i)), ds(i, 1)), AluOp::Add, o);
                     });
  }

  // Keys of one block, and what gathers for them.
  struct Column {
    std::int64_t j, keys;
    Access kt, vt, key, dk, dv;
  };
  // One block on its way through the stages.
  struct Part {
    const Block* block = nullptr;
    std::size_t column = 0;
    bool first = false, last = false;  // of its column
    // Neighbouring blocks of a column leave PSUM together: the first one's number, and how many there are.
    std::size_t group = 0;
    std::int64_t together = 1;
    Access p = {}, ds = {}, bank = {}, turned = {};
  };
  // Blocks between the stages: what the results of one take until the next one needs them.
  static constexpr std::size_t kAhead = 3, kLag = 4;
  static constexpr std::int64_t kPlaces = 4;  // of 128 numbers in a bank

  // Recorded as a pipeline over the blocks of all columns, because each engine works in the order of the program.
  void all_columns() {
    std::vector<Column> columns;
    std::vector<Part> parts;
    for (std::int64_t j = 0; j < key_blocks_; ++j) {
      const std::vector<Block>& list = columns_[static_cast<std::size_t>(j)];
      if (list.empty()) nothing(j);
      for (const Block& b : list) parts.push_back({&b, columns.size(), &b == &list.front(), &b == &list.back()});
      if (!list.empty()) columns.push_back({j, t_.keys_of(j), {}, {}, {}, {}, {}});
    }
    const std::size_t end = parts.size();
    std::vector<std::size_t> last(static_cast<std::size_t>(query_blocks_), end);  // part of each block of queries
    const std::int64_t most = together();
    for (std::size_t n = 0; n < end; ++n) {
      Part& p = parts[n];
      last[static_cast<std::size_t>(p.block->row)] = n;
      p.group = n;
      if (n == 0) continue;
      const Part& before = parts[n - 1];
      const auto count = static_cast<std::int64_t>(n - before.group);
      if (before.column == p.column && before.block->row + 1 == p.block->row && count < most &&
          t_.rows_of(p.block->row) == t_.side)
        p.group = before.group, parts[p.group].together = count + 1;
    }
    for (std::int64_t i = 0; i < query_blocks_; ++i) {
      if (last[static_cast<std::size_t>(i)] == end) finish_queries(i);
    }
    std::size_t made = 0, used = 0, added = 0;
    while (added < end) {
      if (made < end) {
        Part& p = parts[made++];
        if (p.first) {
          if (p.column == 0) load_keys(columns[0]);
          if (p.column + 1 < columns.size()) load_keys(columns[p.column + 1]);  // ahead of its use
        }
        if (made == 1) need_queries(p.block->row);
        if (made < end) need_queries(parts[made].block->row);
        probabilities(p, columns[p.column]);
      }
      if (used < made && (made == end || used + kAhead < made)) {
        Part& p = parts[used++];
        gradients(p, parts, used - 1, columns[p.column]);
      }
      const std::size_t next = added < end ? added + static_cast<std::size_t>(parts[added].together) : end;
      if (added < used && used >= next && (used == end || next + kLag - 1 < used)) {
        add_to_queries(parts, added, columns[parts[added].column]);
        for (std::size_t n = added; n < next; ++n) {
          const std::int64_t row = parts[n].block->row;
          if (last[static_cast<std::size_t>(row)] == n) finish_queries(row);
        }
        added = next;
      }
    }
  }

  void nothing(std::int64_t j) {
    if (grouped_) return;
    const std::int64_t keys = t_.keys_of(j);
    for (const auto& [tensor, width] : {std::pair(dk_, s_.d), std::pair(dv_, s_.dv)}) {
      const Access zero = t_.rings.take("column", Space::Sbuf, keys, {width}, DType::Float32, 3, std::max(s_.d, s_.dv));
      b_.memset(zero, 0.0);
      b_.dma_copy(at(tensor(ds(kv_, 1), ds(j * t_.side, keys)), 0, 0), zero);
    }
  }

  void load_keys(Column& c) {
    const auto tile = [&](const char* name, std::int64_t chunks) {
      return t_.rings.take(name, Space::Sbuf, t_.side, {chunks, t_.side}, t_.word, 3, chunks * t_.side)(all, all,
                                                                                                        ds(0, c.keys));
    };
    c.kt = tile("kt", t_.chunks(s_.d)), c.vt = tile("vt", t_.chunks(s_.dv));
    c.key = t_.rings.take("key", Space::Sbuf, c.keys, {s_.d}, t_.word, kAhead + kLag + 8, s_.d);  // to the last stage
    const Access k = t_.staged(at(k_(ds(kv_, 1)), 0, 0), c.j, s_.d, s_.dead_keys);
    t_.natural(c.key, k);
    t_.transposed(c.kt, k, 1.0);
    t_.transposed(c.vt, t_.staged(at(v_(ds(kv_, 1)), 0, 0), c.j, s_.dv, s_.dead_keys), 1.0);
  }

  void probabilities(Part& made, const Column& c) {
    const Block& block = *made.block;
    const std::int64_t rows = t_.rows_of(block.row);
    const Slice part = ds(block.row * t_.side, rows);
    const Access scores = t_.rings.take("scores", Space::Psum, rows, {c.keys}, DType::Float32, kPlaces, t_.side);
    t_.multiply(scores, qt_(all, all, part), c.kt, s_.d);
    t_.mask(scores, block.part);
    made.p = t_.rings.take("p", Space::Sbuf, rows, {c.keys}, t_.word, 8, t_.side);
    b_.activation(made.p, ActFunction::Exp, scores, {.bias = negative_(ds(0, rows), ds(block.row, 1))});
    const Access dp = t_.rings.take("dp", Space::Psum, rows, {c.keys}, DType::Float32, kPlaces, t_.side);
    t_.multiply(dp, slope_t_(all, all, part), c.vt, s_.dv);
    made.ds = t_.rings.take("ds", Space::Sbuf, rows, {c.keys}, t_.word, 8, t_.side);
    b_.scalar_tensor_tensor(made.ds, dp, AluOp::Subtract, dots_(ds(0, rows), ds(block.row, 1)), AluOp::Multiply,
                            made.p);
  }

  void gradients(Part& part, std::vector<Part>& parts, std::size_t number, Column& c) {
    const std::int64_t i = part.block->row, rows = t_.rows_of(i);
    if (part.first) {
      c.dk = t_.rings.take("dk", Space::Psum, c.keys, {s_.d}, DType::Float32, t_.bank / s_.d, s_.d);
      c.dv = t_.rings.take("dv", Space::Psum, c.keys, {s_.dv}, DType::Float32, t_.bank / s_.dv, s_.dv);
    }
    b_.nc_matmul(c.dv, part.p, at(slope_, 0, i)(ds(0, rows), all), {.accumulate = part.first ? 0 : 1});
    b_.nc_matmul(c.dk, part.ds, at(query_, 0, i)(ds(0, rows), all), {.accumulate = part.first ? 0 : 1});
    // The transposes of a group share a bank and one copy out of it.
    Part& head = parts[part.group];
    const std::int64_t count = head.together;
    if (&head == &part) {
      head.bank = t_.rings.take("ds_turned", Space::Psum, c.keys, {count, rows}, t_.word, 2, together() * t_.side);
      head.turned = t_.rings.take("dst", Space::Sbuf, c.keys, {count, rows}, t_.word, kLag + 2, together() * t_.side);
    }
    b_.nc_transpose(at(head.bank, 0, static_cast<std::int64_t>(number - part.group)), part.ds);
    if (static_cast<std::int64_t>(number - part.group) + 1 == count)
      blocks::scale(b_, head.turned, head.bank, 1.0, Engine::Scalar);
    if (!part.last) return;
    if (grouped_) {
      const Access k_sums = at(dk_sums_, 0, c.j)(ds(0, c.keys), all), v_sums = at(dv_sums_, 0, c.j)(ds(0, c.keys), all);
      b_.tensor_tensor(k_sums, c.dk, k_sums, AluOp::Add, Engine::Vector);
      b_.tensor_tensor(v_sums, c.dv, v_sums, AluOp::Add, Engine::Vector);
    } else {
      store(dk_, c.j, c.keys, c.dk, true);
      store(dv_, c.j, c.keys, c.dv, false);
    }
  }

  // dQ of a group that begins with part `first`: neighbouring blocks of queries.
  void add_to_queries(const std::vector<Part>& parts, std::size_t first, const Column& c) {
    const Part& head = parts[first];
    const std::int64_t i = head.block->row, rows = t_.rows_of(i), count = head.together;
    const std::int64_t whole = together() * s_.d;  // a place lies in one bank
    const Access dq = t_.rings.take("dq", Space::Psum, rows, {count, s_.d}, DType::Float32, 2,
                                    2 * whole <= t_.bank ? whole : t_.bank);
    for (std::int64_t n = 0; n < count; ++n) b_.nc_matmul(at(dq, 0, n), at(head.turned, 0, n), c.key);
    const Access sums = dq_sums_(ds(0, rows), ds(i, count), all);
    b_.tensor_tensor(sums, dq, sums, AluOp::Add, Engine::Vector);
  }
  // Blocks of a group at most: what a bank holds of dQ, or of dS^T twice.
  std::int64_t together() const {
    return std::max<std::int64_t>(1, std::min<std::int64_t>(size_bytes(t_.word) == 2 ? 4 : 2, t_.bank / s_.d));
  }

  void store(const Access& tensor, std::int64_t j, std::int64_t keys, const Access& sums, bool scaled) {
    const std::int64_t width = sums.free_size();
    const Access out = t_.rings.take("column", Space::Sbuf, keys, {width}, DType::Float32, 3, std::max(s_.d, s_.dv));
    blocks::scale(b_, out, sums, scaled ? factor(keys) : ScalarOrTile(1.0), Engine::Scalar);
    b_.dma_copy(at(tensor(ds(kv_, 1), ds(j * t_.side, keys)), 0, 0), out);
  }
  ScalarOrTile factor(std::int64_t rows) const { return std::get<Access>(t_.scale)(ds(0, rows), all); }

  const AttentionShape& s_;
  Builder b_;
  device::AttentionBlocks t_;
  bool grouped_;
  Access q_, k_, v_, o_, do_, log_sums_, dq_, dk_, dv_;
  Access query_, qt_, slope_, slope_t_, dots_, negative_, dq_sums_, dk_sums_, dv_sums_;
  Affine kv_ = 0, h_ = 0;
  std::vector<bool> q_loaded_, slope_loaded_;
  std::int64_t query_blocks_ = 0, key_blocks_ = 0;
  std::vector<std::vector<Block>> columns_;
};

}  // namespace

Program attention_backward_program(const AttentionShape& shape, const Machine& machine) {
  return Backward(shape, machine).build();
}

}  // namespace trn::sparse

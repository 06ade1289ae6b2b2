// 2.5-D: the ranks are `layers` copies of C's grid, and layer l multiplies its own range of k. A product in Exact is a
// sum of integers, so that the layers' parts add up to the same ones, whatever the layers are:
//
//   whole lines of op(A) and op(B) go around all ranks: statistics, plan, what scaling costs, as in one call
//   every layer brings its range of k to its ranks (panels along rows and columns) and multiplies integers
//   blocks of C go around the layers: each gathers the integers of its blocks, adds them and finishes them
//
// Elements that are computed again need whole rows and columns: they are asked for where the whole lines are, so that
// they too go through what one call does with them. The finished blocks return to the first layer, where C lies.
//
// Into a rank come A and B once each in whole lines, 1/p of them, a layer's panels, and 24 bytes of every element of C;
// without layers it is panels of all of k.
#include "dist/layers.hpp"

#include <algorithm>
#include <optional>

#include <trn/comm/modelled.hpp>

#include "checks.hpp"
#include "dist/lines.hpp"
#include "dist/panels.hpp"
#include "dist/region.hpp"
#include "exact.hpp"
#include "exact/finish.hpp"
#include "gemm_arguments.hpp"

namespace trn::blas::distributed {

namespace {

using exact::Block;
using exact::OperandSide;
using exact::Wide;

// The part of op(A) or op(B) that this rank brings to its row or column of its layer: its rows of op(A), or columns of
// op(B), and of k a range of its own.
template <class T> class Slice {
 public:
  // lines: how C's grid cuts rows of op(A) or columns of op(B). Of k every rank has one range, `width` long.
  Slice(const dist::Matrix<T>& x, Op op, OperandSide side, const dist::Cyclic& lines, std::int64_t width, int layers,
        const dist::Grid& grid, int me)
      : x_(x), op_(op), left_(side == OperandSide::Left), grid_(grid), lines_(lines) {
    const dist::BlockCyclic& from = x.distribution();
    const int in_layer = left_ ? grid.columns : grid.rows, across = in_layer * layers;
    const std::int64_t depth = left_ == (op == Op::N) ? from.columns : from.rows;
    lines_first_ = left_ == (op == Op::N);  // of what is stored: lines are its rows
    to_ = lines_first_ ? dist::BlockCyclic{lines.extent, depth, lines.block, width, {lines.ranks, across}}
                       : dist::BlockCyclic{depth, lines.extent, width, lines.block, {across, lines.ranks}};
    if (me < layers * grid.size()) {
      const int layer = me / grid.size(), row = grid.row_of(me % grid.size()),
                column = grid.column_of(me % grid.size());
      const int line = left_ ? row : column, range = layer * in_layer + (left_ ? column : row);
      place_ = lines_first_ ? to_.grid.rank(line, range) : to_.grid.rank(range, line);
    }
    const std::int64_t rows = place_ < 0 ? 0 : to_.local_rows(place_),
                       columns = place_ < 0 ? 0 : to_.local_columns(place_);
    moved_.emplace(x.executor(), Shape{columns, rows});
    stored_ = MatrixView<T>::column_major(x.executor(), moved_->data(), rows, columns);
  }
  // Collective.
  void bring() const {
    const auto rank_of = [&](int place) {
      const int a = to_.grid.row_of(place), b = to_.grid.column_of(place);
      const int line = lines_first_ ? a : b, range = lines_first_ ? b : a;
      const int in_layer = left_ ? grid_.columns : grid_.rows, layer = range / in_layer, other = range % in_layer;
      return layer * grid_.size() + (left_ ? grid_.rank(line, other) : grid_.rank(other, line));
    };
    const MatrixView<T> here = x_.local();
    const int me = x_.group().rank();
    dist::detail::redistribute(
        x_.group(), moves_to_places(x_.distribution(), to_, rank_of, place_, me),
        comm::detail::bytes_of(View<T>(here.executor(), here.data(), {here.columns(), here.rows()})),
        comm::detail::bytes_of(moved_->view()));
  }
  // k of the layer, cut among the ranks of a row or column.
  [[nodiscard]] Part<T> part(std::int64_t depth, std::int64_t width) const {
    const dist::Cyclic range{depth, width, left_ ? grid_.columns : grid_.rows};
    return {MatrixView<const T>(*stored_), op_, left_ ? lines_ : range, left_ ? range : lines_};
  }

 private:
  const dist::Matrix<T>& x_;
  Op op_;
  bool left_, lines_first_ = false;
  dist::Grid grid_;
  dist::Cyclic lines_;
  dist::BlockCyclic to_;
  int place_ = -1;
  std::optional<trn::Array<T>> moved_;
  std::optional<MatrixView<T>> stored_;
};

// Integers that lie here already.
class SumSource final : public exact::Source {
 public:
  explicit SumSource(const std::vector<Wide>& x) : x_(x) {}
  void fetch(const Block&, Wide* x) override { std::ranges::copy(x_, x); }

 private:
  const std::vector<Wide>& x_;
};

template <class T> class Layered {
 public:
  Layered(const Product<T>& p, const dist::Matrix<T>& a, const dist::Matrix<T>& b, const dist::Matrix<T>& c, int layers)
      : p_(p),
        a_(a),
        b_(b),
        c_(c),
        group_(c.group()),
        executor_(c.executor()),
        layers_(layers),
        grid_(c.distribution().grid),
        me_(group_.rank()),
        layer_(me_ < layers * grid_.size() ? me_ / grid_.size() : -1),
        along_layer_(group_.split(layer_ < 0 ? layers : layer_, me_)),
        across_(group_.split(layer_ < 0 ? grid_.size() : me_ % grid_.size(), me_)),
        k_(p.op_a == Op::N ? a.columns() : a.rows()),
        // Of a layer: a multiple of what both operands cut it into.
        depth_((share(k_, layers) + grid_.size() - 1) / grid_.size() * grid_.size()),
        mine_(layer_ < 0 ? 0 : std::clamp<std::int64_t>(k_ - layer_ * depth_, 0, depth_)),
        agreement_(group_) {
    if (layer_ >= 0) place_.emplace(along_layer_, grid_);
  }

  Accuracy operator()() {
    allocate();
    const Lines<T> rows(a_, p_.op_a, OperandSide::Left), columns(b_, p_.op_b, OperandSide::Right);
    plan(rows, columns);
    left_->bring();
    right_->bring();
    if (layer_ >= 0 && p_.beta != T(0)) comm::broadcast(across_, 0, View<T>(out_->transposed()));
    multiply(rows, columns);
    agreement_.settle();
    collect();
    if (layer_ == 0 && !empty()) LocalRegion<T>(c_, Region::All, false).store(*out_);
    return {Mode::Exact, static_cast<int>(comm::maximum<std::int64_t>(group_, moduli_)),
            comm::maximum(group_, finish_ ? finish_->bound() : 0.0)};
  }

 private:
  static std::int64_t share(std::int64_t n, std::int64_t parts) { return (n + parts - 1) / parts; }
  [[nodiscard]] bool empty() const { return out_->rows() == 0 || out_->columns() == 0; }
  [[nodiscard]] int in_layer() const { return me_ % grid_.size(); }

  void allocate() {
    const dist::BlockCyclic& d = c_.distribution();
    const std::int64_t left_width = depth_ / grid_.columns, right_width = depth_ / grid_.rows;
    agreement_.attempt([&] {
      require_exactness(p_.operation, executor_);
      const MatrixView<T> local = c_.local();
      const auto apart = [&](const char* name, const dist::Matrix<T>& x) {
        if (local.rows() * local.columns() > 0 && x.local().rows() * x.local().columns() > 0)
          checks::no_overlap(p_.operation, name, checks::extent(x.local()), "C", checks::extent(local));
      };
      apart("A", a_);
      apart("B", b_);
      left_.emplace(a_, p_.op_a, OperandSide::Left, d.row(), left_width, layers_, grid_, me_);
      right_.emplace(b_, p_.op_b, OperandSide::Right, d.column(), right_width, layers_, grid_, me_);
      const std::int64_t m = layer_ < 0 ? 0 : d.local_rows(in_layer()),
                         n = layer_ < 0 ? 0 : d.local_columns(in_layer());
      buffer_.emplace(executor_, Shape{n, m});
      out_ = MatrixView<T>::column_major(executor_, buffer_->data(), m, n);
      if (layer_ == 0 && p_.beta != T(0) && !empty()) LocalRegion<T>(c_, Region::All, false).load(*out_);
      if (layer_ < 0) return;
      left_panels_.emplace(left_->part(mine_, left_width), Panels<T>::Side::Left, *place_, executor_, mine_, false);
      right_panels_.emplace(right_->part(mine_, right_width), Panels<T>::Side::Right, *place_, executor_, mine_, false);
    });
    agreement_.settle();
  }

  // What one call would know of its operands: statistics and plan, and of this rank's lines what scaling costs.
  void plan(const Lines<T>& rows, const Lines<T>& columns) {
    exact::Operand row = rows.operand(), column = columns.operand();
    exact::Reach reach;
    agreement_.attempt([&] {
      row.measure();
      column.measure();
      reach = exact::reach_of(row, column);
    });
    reach = agree(group_, reach);
    exact::ScalingErrors errors;
    agreement_.attempt([&] {
      const exact::Plan all = exact::make_plan(row, column, reach, allowed_scaling(dtype_of<T>), false);
      moduli_ = all.moduli;
      errors = {exact::scaling_errors(row, all.shift_a, all.bits_a),
                exact::scaling_errors(column, all.shift_b, all.bits_b)};
    });
    const auto row_facts = rows.gather(row, errors.a), column_facts = columns.gather(column, errors.b);
    agreement_.attempt([&] {
      const dist::BlockCyclic& d = c_.distribution();
      whole_a_.emplace(rows.without_numbers(out_->rows()));
      whole_b_.emplace(columns.without_numbers(out_->columns()));
      const int place = in_layer();
      take(row_facts, d.row(), grid_.row_of(place), *whole_a_, errors_.a, global_rows_);
      take(column_facts, d.column(), grid_.column_of(place), *whole_b_, errors_.b, global_columns_);
      whole_a_->span = reach.a.span, whole_b_->span = reach.b.span;
      plan_ = exact::make_plan(*whole_a_, *whole_b_, reach, allowed_scaling(dtype_of<T>), false);
    });
  }

  // Of this rank's rows (or columns) of C.
  static void take(const std::vector<typename Lines<T>::Facts>& facts, const dist::Cyclic& cut, int me,
                   exact::Operand& to, std::vector<exact::Norms>& errors, std::vector<std::int64_t>& global) {
    for (std::int64_t i = 0; i < to.rows(); ++i) {
      global.push_back(cut.to_global(i, me));
      const auto& f = facts[static_cast<std::size_t>(global.back())];
      to.exponent.push_back(static_cast<int>(f.exponent));
      to.special.push_back(static_cast<char>(f.special));
      to.norms.push_back(f.norms);
      errors.push_back(f.errors);
    }
  }

  void multiply(const Lines<T>& rows, const Lines<T>& columns) {
    bool began = false;
    const auto consume = [&](exact::Source& source) {
      began = true;
      finish_blocks(&source, rows, columns);
    };
    std::int64_t words = 0;
    if (layer_ >= 0) {
      const MatrixView<const T> x = left_panels_->fetch(0, mine_), y = right_panels_->fetch(0, mine_);
      agreement_.attempt([&] {
        const GemmArgs g = gemm_arguments(p_.op_a, p_.op_b, p_.alpha, x, y, p_.beta, *out_);
        const exact::Operand a(executor_, g.in, g.a, g.m, g.k, g.am, g.ak, g.conj_a, OperandSide::Left),
            b(executor_, g.in, g.b, g.n, g.k, g.bn, g.bk, g.conj_b, OperandSide::Right);
        const std::int64_t planes = is_complex(g.in) ? 2 : 1;
        const exact::Partition partition(g.m, g.n, planes * depth_, planes, false);
        if (!empty()) partition.for_blocks(g.m, g.n, false, [&](const Block& block) { blocks_.push_back(block); });
        arguments_ = g;
        arguments_.alpha = p_.alpha;  // which a range without terms has dropped
        product_.emplace(*whole_a_, *whole_b_, plan_, ExactRegion::Terms::All, true, errors_);
        finish_.emplace(executor_, arguments_, *product_, no_bounds_, ExactRegion{}, false);
        words = 4 * exact::recombination(moduli_).limbs * planes * g.m * g.n;
        if (empty()) return;
        exact_product(p_.operation, executor_,
                      {g, mine_ == 0 ? 0 : moduli_, std::max(plan_.bits_a, plan_.bits_b), a, b, plan_.shift_a,
                       plan_.shift_b, false, partition, consume});
      });
    }
    if (!began) finish_blocks(nullptr, rows, columns);
    if (executor_.family() == Family::Device) {  // the words of the integers go from device to device
      std::vector<int> partners;
      for (int l = 0; l < layers_ && layer_ >= 0; ++l) partners.push_back(l * grid_.size() + in_layer());
      if (partners.empty()) partners.push_back(me_);
      comm::spend_all_to_all(group_, words, partners);
    }
  }

  // Block b is finished by layer b % layers. Collective, in as many rounds as any rank needs.
  void finish_blocks(exact::Source* source, const Lines<T>& rows, const Lines<T>& columns) {
    const std::int64_t mine = share(static_cast<std::int64_t>(blocks_.size()), layers_),
                       rounds = comm::maximum(group_, mine);
    for (std::int64_t round = 0; round < rounds; ++round) {
      const auto at = static_cast<std::size_t>(round * layers_ + std::max(layer_, 0));
      const Block* block = layer_ >= 0 && at < blocks_.size() ? &blocks_[at] : nullptr;
      std::vector<Wide> sum;
      if (round < mine) sum = add_up(source, static_cast<std::size_t>(round * layers_), block);
      exact::Product::Unsettled unsettled;
      bool looked = false;
      agreement_.attempt([&] {
        if (block == nullptr) return;
        SumSource integers(sum);
        unsettled = product_->look(integers, *block, exact::Product::Wanted::All);
        looked = true;
      });
      read_lines(unsettled, looked ? block : nullptr, rows, columns);
      agreement_.attempt([&] {
        if (block != nullptr) finish_->block(product_->settle(std::move(unsettled)));
      });
    }
  }

  // The integers of `block` from all layers; every layer has one of the blocks from `first` on.
  std::vector<Wide> add_up(exact::Source* source, std::size_t first, const Block* block) {
    const std::int64_t planes = ComplexScalar<T> ? 2 : 1;
    const auto elements = [&](const Block& b) { return planes * b.rows * b.columns; };
    const auto count = static_cast<std::size_t>(layers_);
    std::vector<std::int64_t> gives(count, 0), takes(count, block == nullptr ? 0 : 3 * elements(*block));
    std::vector<Wide> sent;
    for (std::size_t l = 0; l < count && first + l < blocks_.size(); ++l) {
      const Block& b = blocks_[first + l];
      gives[l] = 3 * elements(b);
      const std::size_t at = sent.size();
      sent.resize(at + static_cast<std::size_t>(elements(b)));
      agreement_.attempt([&] {
        if (source != nullptr) source->fetch(b, sent.data() + at);
      });
    }
    const std::size_t mine = block == nullptr ? 0 : static_cast<std::size_t>(elements(*block));
    std::vector<Wide> got(count * mine);
    const auto words = [](std::vector<Wide>& x) {
      return View<std::uint64_t>(Executor::host(), x.empty() ? nullptr : x.front().word.data(),
                                 {3 * static_cast<std::int64_t>(x.size())});
    };
    comm::all_to_all_v(across_, words(sent), gives, words(got), takes);
    for (std::size_t l = 1; l < count; ++l) {
      for (std::size_t i = 0; i < mine; ++i) got[i].add(1, got[l * mine + i]);
    }
    got.resize(mine);
    return got;
  }

  // Rows and columns for the elements that may be computed again; collective over the group.
  void read_lines(const exact::Product::Unsettled& u, const Block* block, const Lines<T>& rows,
                  const Lines<T>& columns) {
    std::vector<std::int64_t> row, column;  // of the block
    for (const std::vector<std::int64_t>* list : {&u.again, &u.candidates}) {
      for (const std::int64_t at : *list) {
        row.push_back(at / block->columns);
        column.push_back(at % block->columns);
      }
    }
    for (std::vector<std::int64_t>* list : {&row, &column}) {
      std::ranges::sort(*list);
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
    const auto wanted = static_cast<std::int64_t>(row.size());
    if (comm::maximum(group_, wanted) == 0) return;
    read(rows, row, block == nullptr ? 0 : block->row, block == nullptr ? 0 : block->rows, global_rows_, row_numbers_,
         *whole_a_);
    read(columns, column, block == nullptr ? 0 : block->column, block == nullptr ? 0 : block->columns, global_columns_,
         column_numbers_, *whole_b_);
    if (product_) product_->forget_columns();
  }

  // Lines of a block, those that nobody wants zero.
  void read(const Lines<T>& lines, const std::vector<std::int64_t>& wanted, std::int64_t first, std::int64_t count,
            const std::vector<std::int64_t>& global, std::vector<T>& numbers, exact::Operand& whole) {
    // The order of local lines is that of global ones.
    std::vector<std::int64_t> asked;
    for (const std::int64_t i : wanted) asked.push_back(global[static_cast<std::size_t>(first + i)]);
    const std::vector<T> got = lines.fetch(asked, agreement_);
    agreement_.attempt([&] {
      numbers.assign(static_cast<std::size_t>(count * k_), T(0));
      for (std::size_t i = 0; i < wanted.size(); ++i)
        std::copy_n(got.begin() + static_cast<std::int64_t>(i) * k_, k_, numbers.begin() + wanted[i] * k_);
      whole.lies_at(Executor::host(), numbers.data(), first);
    });
  }

  // Finished blocks return to the first layer.
  void collect() {
    for (std::size_t b = 0; b < blocks_.size() && layer_ >= 0; ++b) {
      const int from = static_cast<int>(b % static_cast<std::size_t>(layers_));
      if (from == 0 || (layer_ != 0 && layer_ != from)) continue;
      const Block& k = blocks_[b];
      const View<T> block(out_->block(k.row, k.column, k.rows, k.columns).transposed());
      layer_ == 0 ? comm::send_receive(across_, -1, block, from, block)
                  : comm::send_receive(across_, 0, block, -1, block);
    }
  }

  const Product<T>& p_;
  const dist::Matrix<T>&a_, &b_, &c_;
  comm::Communicator group_;
  Executor executor_;
  int layers_;
  dist::Grid grid_;
  int me_, layer_;
  comm::Communicator along_layer_, across_;  // the ranks of this layer; those in this place of all layers
  std::int64_t k_, depth_, mine_;            // of the product, of a layer, of this one
  comm::Agreement agreement_;
  std::optional<dist::Place> place_;
  std::optional<Slice<T>> left_, right_;
  std::optional<Panels<T>> left_panels_, right_panels_;
  std::optional<trn::Array<T>> buffer_;
  std::optional<MatrixView<T>> out_;
  std::optional<exact::Operand> whole_a_, whole_b_;  // whole lines, of which no numbers are here
  exact::ScalingErrors errors_;
  exact::Plan plan_;
  int moduli_ = 0;
  std::vector<std::int64_t> global_rows_, global_columns_;
  std::vector<T> row_numbers_, column_numbers_;
  GemmArgs arguments_{};
  std::vector<Block> blocks_;
  const std::optional<MatrixView<double>> no_bounds_;
  std::optional<exact::Product> product_;
  std::optional<exact::Finish> finish_;
};

}  // namespace

template <class T> Accuracy multiply_in_layers(const Product<T>& p, const dist::Matrix<T>& a, const dist::Matrix<T>& b,
                                               const dist::Matrix<T>& c, int layers) {
  return Layered<T>(p, a, b, c, layers)();
}

#define TRN_LAYERED(T)                                                                                       \
  template Accuracy multiply_in_layers<T>(const Product<T>&, const dist::Matrix<T>&, const dist::Matrix<T>&, \
                                          const dist::Matrix<T>&, int);
TRN_LAYERED(float)
TRN_LAYERED(double)
TRN_LAYERED(std::complex<float>)
TRN_LAYERED(std::complex<double>)
#undef TRN_LAYERED

}  // namespace trn::blas::distributed

// Limbs and residues: the instructions. exact_integers.cpp holds the same steps for the host, number by number.
#include "exact_slices.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>

#include <trn/tile/blocks/loops.hpp>

#include "../exact_integers.hpp"

namespace trn::blas::device {

using namespace trn::tile;
using blocks::for_blocks;

Access drop(Access access, std::size_t d) {
  access.dims.erase(access.dims.begin() + static_cast<std::ptrdiff_t>(d));
  return access;
}

// Tiles are reused once what they held is spent: `top` holds the significand's top piece, then that piece scaled, then
// what is left of it; `middle` and `low` the other pieces, scaled, then what is left of them; `field`, `fraction` and
// `sign` multiples of the three pieces.
struct Slices::Work {
  Access field, fraction, sign, top, scale, middle, low, more[2];

  Work(Builder& b, std::int64_t rows, std::int64_t width, bool wide, int limbs) {
    const auto tile = [&](const char* name, DType dtype) { return b.sbuf(name, rows, {width}, dtype); };
    field = tile("field", DType::UInt32), fraction = tile("fraction", DType::UInt32),
    sign = tile("sign", DType::UInt32);
    top = tile("top", DType::Float32), scale = tile("scale", DType::Int32);
    if (!wide) return;
    middle = tile("middle", DType::Float32), low = tile("low", DType::Float32);
    if (limbs == 4) more[0] = tile("g2", DType::Float32), more[1] = tile("u1", DType::Float32);
  }
  [[nodiscard]] Work cut(std::int64_t rows, std::int64_t width) const {
    Work w = *this;
    for (Access* x : {&w.field, &w.fraction, &w.sign, &w.top, &w.scale, &w.middle, &w.low, &w.more[0], &w.more[1]}) {
      if (x->present()) *x = (*x)(ds(0, rows), ds(0, width));
    }
    return w;
  }
  [[nodiscard]] Access factor() const { return scale.view(DType::Float32); }
};

// Rows x width numbers of one source: their words, and of the low word its halves; their limbs (rows, limbs, width).
struct Slices::Panel {
  Work work;
  Access four, high, halves[2];
  Place place;
};

Slices::Slices(Builder& b, const ExactShape& shape, const Numbers& numbers, const Access& offsets, const Access& table,
               bool spare)
    : b_(b),
      side_(b.machine().partitions),
      wide_(real_of(shape.in) == DType::Float64),
      complex_(is_complex(shape.in)),
      words_(wide_ ? 2 : 1),
      limbs_(shape.limbs),
      units_(exact::limb_units(shape.limbs)),
      spare_(spare),
      numbers_(numbers),
      offsets_(offsets) {
  table_ = b_.sbuf("constants", side_, {kTableRows, shape.moduli}, DType::Float32);
  b_.dma_copy(table_, table.broadcast(0, side_));
  if (!wide_) return;  // the Scalar Engine rounds to multiples for wide numbers alone
  magic_ = b_.sbuf("magic", side_, {2 * static_cast<std::int64_t>(kScalarUnits.size())}, DType::Float32);
  for (std::size_t u = 0; u < kScalarUnits.size(); ++u) {
    const auto at = static_cast<std::int64_t>(2 * u);
    b_.memset(magic_(all, ds(at, 1)), magic(kScalarUnits[u]));
    b_.memset(magic_(all, ds(at + 1, 1)), -magic(kScalarUnits[u]));
  }
}

std::int64_t Slices::bytes_beside(const ExactShape& shape, std::int64_t moduli, std::int64_t next,
                                  const Machine& machine) {
  const bool wide = real_of(shape.in) == DType::Float64, four = shape.limbs == 4;
  const std::int64_t words = wide ? 2 : 1, work = wide ? (four ? 9 : 7) : 5,
                     loads = words * (machine.pass_through_transpose ? 2 : 1);
  // Of tasks: sums, quotients and, half as wide, residues.
  const auto residues = [&](std::int64_t count) {
    const std::int64_t at_once = std::min(count, kTasks);
    return at_once * ((count > kTasks ? 4 : 2) + (four ? 2 : 0)) + blocks::ceil_div(at_once, 2);
  };
  const std::int64_t tiles = 2 * (work + shape.limbs) + loads + residues(moduli) + shape.limbs + residues(next);
  return tiles * kColumns * size_bytes(DType::Float32);
}

Access Slices::constant(ExactConstant row, const Affine& i, std::int64_t rows) const {
  return drop(table_(ds(0, rows), ds(row, 1), ds(i, 1)), 0);
}

// What the exponents of a tile's rows are added to, as the Scalar Engine adds it.
Access Slices::bias(const Source& source, const Affine& r0, std::int64_t rows) {
  const Access offset = b_.sbuf("offset", rows, {1}, DType::Float32, 2),
               bias = b_.sbuf("bias", rows, {1}, DType::Float32, 2);
  b_.dma_copy(offset, offsets_(ds(r0 + source.plane.row, rows), all));
  b_.tensor_scalar(bias, offset, AluOp::Multiply, 0x1p23, {.engine = Engine::Vector});
  return bias;
}

namespace {
constexpr AluOp kPlus = AluOp::Add, kMinus = AluOp::Subtract;
Access limb(const Access& four, std::int64_t l) { return drop(four(all, ds(l, 1), all), 0); }
}  // namespace

// Tiles for the work of one task at a time, as wide as the widest, and for residues.
struct Slices::Slot {
  Access top, lower, sum[2], quotient[2];
};
struct Slices::ResidueTiles {
  std::vector<Slot> slots;
  std::vector<Access> residues;
};

// The sums of a group of tasks, then the quotients of the group before it, so that no engine waits for another. All
// sums are below 2^24 in magnitude. Of three limbs c2 times its limb comes from the Scalar Engine, Vector adds c1 times
// its own, GpSimd the last one. Of four c3's comes from Scalar, c2's from Vector, c1's from both in turn, which evens
// their load out.
class Slices::Residues {
 public:
  // tiles: made here, unless another one had as many tasks with them.
  Residues(Slices& slices, std::vector<Task> tasks, ResidueTiles& tiles)
      : s_(slices),
        b_(slices.b_),
        tasks_(std::move(tasks)),
        count_(static_cast<std::int64_t>(tasks_.size())),
        slots_(tiles.slots),
        residues_(tiles.residues) {
    if (!slots_.empty()) return;
    std::int64_t rows = 0, width = 0;
    for (const Task& t : tasks_) {
      rows = std::max(rows, t.four.partitions), width = std::max(width, t.four.dims[1].size);
    }
    const auto tile = [&](const char* name, DType dtype) { return b_.sbuf(name, rows, {width}, dtype); };
    const auto real = [&](const char* name) { return tile(name, DType::Float32); };
    for (std::int64_t t = 0; t < std::min(kTasks, count_); ++t) {
      Slot slot;
      if (s_.limbs_ == 4) slot.top = real("c3"), slot.lower = real("c1");
      slot.sum[0] = real("c"), slot.quotient[0] = tile("q", DType::Int32);
      if (count_ > kTasks) slot.sum[1] = real("c"), slot.quotient[1] = tile("q", DType::Int32);
      slots_.push_back(slot);
    }
    // Of one group, and of the next where there is room.
    for (std::int64_t t = 0; t < std::min((s_.spare_ ? 2 : 1) * kTasks, count_); t += kTasks)
      residues_.push_back(b_.sbuf("residue", rows, {std::min(kTasks, count_), width}, DType::BFloat16));
  }

  [[nodiscard]] std::int64_t steps() const { return (count_ + kTasks - 1) / kTasks + 1; }

  void step(std::int64_t number) {
    const std::int64_t first = number * kTasks;
    each(first, [&](std::int64_t t) { begin(t); });
    for (const bool shared : {false, true}) {
      each(first, [&](std::int64_t t) {
        if (shares(t) == shared) add(t);
      });
    }
    each(first - kTasks, [&](std::int64_t t) {
      const Operands o = operands(t);
      s_.divide(o.quotient, o.sum, o.task.i);
    });
    each(first - kTasks, [&](std::int64_t t) {
      const Operands o = operands(t);
      s_.subtract(o.residue, o.sum, o.quotient, o.task.i);
    });
    if (first >= kTasks) store(first - kTasks);
  }

 private:
  struct Operands {
    const Task& task;
    std::int64_t rows;
    Access top, lower, sum, quotient, residue;
  };

  [[nodiscard]] Access residue(std::int64_t t, std::int64_t together) const {
    const Access& four = tasks_[static_cast<std::size_t>(t)].four;
    return residues_[static_cast<std::size_t>(t / kTasks) % residues_.size()](
        ds(0, four.partitions), ds(t % kTasks, together), ds(0, four.dims[1].size));
  }
  [[nodiscard]] Operands operands(std::int64_t t) const {
    const Task& task = tasks_[static_cast<std::size_t>(t)];
    const Slot& slot = slots_[static_cast<std::size_t>(t % kTasks)];
    const Slice rows = ds(0, task.four.partitions), columns = ds(0, task.four.dims[1].size);
    const auto turn = static_cast<std::size_t>(t / kTasks % 2);
    const auto cut = [&](const Access& x) { return x.present() ? x(rows, columns) : x; };
    return {task,
            task.four.partitions,
            cut(slot.top),
            cut(slot.lower),
            slot.sum[turn](rows, columns),
            slot.quotient[turn](rows, columns),
            drop(residue(t, 1), 0)};
  }
  [[nodiscard]] bool shares(std::int64_t t) const { return s_.limbs_ == 4 && t % 4 != 0; }
  [[nodiscard]] Access constant(ExactConstant row, const Operands& o) const {
    return s_.constant(row, o.task.i, o.rows);
  }

  void begin(std::int64_t t) {
    const Operands o = operands(t);
    if (shares(t)) {
      b_.activation(o.lower, ActFunction::Copy, limb(o.task.four, 1), {.scale = constant(kC1, o)});
      b_.tensor_tensor(o.lower, o.lower, limb(o.task.four, 0), AluOp::Add, Engine::GpSimd);
    }
    if (s_.limbs_ == 4) b_.activation(o.top, ActFunction::Copy, limb(o.task.four, 3), {.scale = constant(kC3, o)});
    if (s_.limbs_ == 3) b_.activation(o.sum, ActFunction::Copy, limb(o.task.four, 2), {.scale = constant(kC2, o)});
  }
  void add(std::int64_t t) {
    const Operands o = operands(t);
    const auto times = [&](const Access& to, std::int64_t l, ExactConstant row, const Access& plus) {
      b_.scalar_tensor_tensor(to, limb(o.task.four, l), AluOp::Multiply, constant(row, o), AluOp::Add, plus);
    };
    const Access last = limb(o.task.four, 0);
    if (s_.limbs_ == 2) return times(o.sum, 1, kC1, last);
    if (s_.limbs_ == 3) {
      times(o.sum, 1, kC1, o.sum);
      b_.tensor_tensor(o.sum, o.sum, last, AluOp::Add, Engine::GpSimd);
      return;
    }
    if (!shares(t)) times(o.lower, 1, kC1, last);
    times(o.top, 2, kC2, o.top);
    b_.tensor_tensor(o.sum, o.lower, o.top, AluOp::Add, Engine::GpSimd);
  }
  // One store for the moduli of a tile of limbs that are finished together, where they need not wait for one another's
  // stores: a descriptor costs GpSimd as much as a third of a residue.
  void store(std::int64_t first) {
    const std::int64_t end = std::min(first + kTasks, count_);
    for (std::int64_t t = first; t < end;) {
      const Task& task = tasks_[static_cast<std::size_t>(t)];
      const auto joins = [&](std::int64_t other) {
        const Task& o = tasks_[static_cast<std::size_t>(other)];
        return o.row == task.row && o.column == task.column;
      };
      std::int64_t together = 1;
      while (s_.spare_ && t + together < end && joins(t + together)) ++together;
      const std::int64_t rows = task.four.partitions, width = task.four.dims[1].size;
      b_.dma_copy(
          s_.numbers_.residues(ds(task.i, together), ds(task.row, rows), ds(task.column, width)).permute({1, 0, 2}),
          residue(t, together), apart(b_.machine()));
      t += together;
    }
  }
  template <class Step> void each(std::int64_t first, const Step& step) const {
    for (std::int64_t t = std::max<std::int64_t>(0, first); t < std::min(first + kTasks, count_); ++t) step(t);
  }

  Slices& s_;
  Builder& b_;
  std::vector<Task> tasks_;
  std::int64_t count_;
  std::vector<Slot>& slots_;
  std::vector<Access>& residues_;
};

// The tiles of streams, one stream after another: each as large as the largest place, made when it is needed first, or
// before the loops that need it.
class Slices::Pool {
 public:
  Pool(Slices& slices, std::int64_t rows, std::int64_t width) : s_(slices), b_(slices.b_), rows_(rows), width_(width) {}
  void reserve(std::size_t places, bool turned) {
    for (std::size_t n = 0; n < places; ++n) {
      (void)work(n), (void)limbs(n), (void)raw(n);
      if (turned) (void)natural(n);
    }
  }
  const Work& work(std::size_t n) {
    return nth(work_, n, [&] { return Work(b_, rows_, width_, s_.wide_, s_.limbs_); });
  }
  const Access& limbs(std::size_t n) {
    return nth(limbs_, n, [&] { return b_.sbuf("limbs", rows_, {s_.limbs_, width_}, DType::Float32); });
  }
  const Access& raw(std::size_t n) {
    return nth(raw_, n, [&] { return b_.sbuf("raw", rows_, {width_ * s_.words_}, DType::UInt32); });
  }
  const Access& natural(std::size_t n) {
    const std::int64_t side = s_.side_;
    return nth(natural_, n, [&] { return b_.sbuf("natural", side, {width_ / side, rows_, s_.words_}, DType::UInt32); });
  }
  const Access& turned(std::size_t n) {
    return nth(turned_, n, [&] { return b_.psum("turned", rows_, {width_}, DType::Float32); });
  }

 private:
  template <class T, class Make> static const T& nth(std::vector<T>& tiles, std::size_t n, const Make& make) {
    while (tiles.size() <= n) tiles.push_back(make());
    return tiles[n];
  }
  Slices& s_;
  Builder& b_;
  std::int64_t rows_, width_;
  std::vector<Work> work_;
  std::vector<Access> limbs_, raw_, natural_, turned_;
};

// Limbs, and residues if wanted, of places in groups. A group's instructions wait for one another across engines:
// while GpSimd and Scalar are behind with it, Vector begins the next, and residues are made of the one before.
class Slices::Stream {
 public:
  // together: places in a group.
  Stream(Slices& slices, std::shared_ptr<Pool> pool, std::vector<Place> places, const std::optional<Moduli>& moduli,
         std::int64_t together)
      : s_(slices),
        b_(slices.b_),
        pool_(std::move(pool)),
        places_(std::move(places)),
        moduli_(moduli),
        together_(together) {
    groups_ = blocks::ceil_div(static_cast<std::int64_t>(places_.size()), together_);
    panels_.resize(static_cast<std::size_t>(groups_)), residues_.resize(static_cast<std::size_t>(groups_));
  }

  // Five steps to a group. Vector scales a group while GpSimd and Scalar are behind with the one before.
  [[nodiscard]] std::int64_t steps() const { return 5 * (groups_ + (moduli_ ? 2 : 1)); }

  void step(std::int64_t number) {
    const auto group = [&](std::int64_t behind) { return static_cast<std::size_t>(number / 5 - behind); };
    const auto there = [&](std::int64_t behind) { return number / 5 >= behind && number / 5 - behind < groups_; };
    switch (number % 5) {
      case 0:
        if (there(0)) load(group(0)), s_.scale(panels_[group(0)]);
        return;
      case 1:
        if (there(1)) s_.end(panels_[group(1)]);
        return;
      case 2:
        if (there(0)) s_.begin(panels_[group(0)]);
        return;
      case 3:
        if (there(1)) {
          s_.round(panels_[group(1)]);
          for (const Panel& p : panels_[group(1)]) s_.store(p);
        }
        if (moduli_ && there(2)) residues_[group(2)]->step(residues_[group(2)]->steps() - 1);
        return;
      default:
        if (!moduli_ || !there(1)) return;
        residues_[group(1)].emplace(s_, tasks(panels_[group(1)]), tiles_);
        for (std::int64_t step = 0; step + 1 < residues_[group(1)]->steps(); ++step) residues_[group(1)]->step(step);
    }
  }

 private:
  void load(std::size_t group) {
    std::vector<Panel>& panels = panels_[group];
    const std::int64_t first = static_cast<std::int64_t>(group) * together_,
                       end = std::min(first + together_, static_cast<std::int64_t>(places_.size()));
    for (std::int64_t at = first; at < end; ++at) {
      const Place& p = places_[static_cast<std::size_t>(at)];
      const auto in_group = static_cast<std::size_t>(at - first);
      const auto set = [&](std::size_t sets) { return group % sets * together_ + in_group; };
      panels.push_back({pool_->work(set(2)).cut(p.rows, p.width),
                        pool_->limbs(set(2))(ds(0, p.rows), all, ds(0, p.width)),
                        {},
                        {},
                        p});
      // Words are spent once they are scaled.
      load(panels.back(), set(together_ == 1 ? 1 : 2));
    }
  }
  // The words of a piece of x, low word first, (rows, width) each. Where neighbours in memory belong to neighbouring
  // rows, the Tensor Engine turns what DMA brings in long runs, without touching a bit; Scalar moves it out of PSUM.
  // The halves of a uint32 plane are uint16 planes: no instruction takes them apart.
  void load(Panel& p, std::size_t set) {
    const Place& at = p.place;
    const std::int64_t words = s_.words_, side = s_.side_;
    const Access from = at.source.x(ds(at.row, at.rows), ds(at.column, at.width), ds(at.source.plane.word, words));
    const Access raw = pool_->raw(set)(ds(0, at.rows), ds(0, at.width * words));
    if (!s_.turns(at.source) || at.width % side != 0) {
      const Access pairs = raw.split(0, words);  // (rows, width, words)
      b_.dma_copy(pairs, from);
      p.high = drop(pairs(all, all, ds(words - 1, 1)), 1);
      for (std::int64_t h = 0; s_.wide_ && h < 2; ++h)
        p.halves[h] = drop(pairs.view(DType::UInt16)(all, all, ds(h, 1)), 1);
      return;
    }
    const std::int64_t tiles = at.width / side;
    const Access natural = pool_->natural(set)(all, ds(0, tiles), ds(0, at.rows), all);
    b_.dma_copy(natural, from.split(1, side).permute({2, 1, 0, 3}));
    const Access planes = raw.split(0, at.width);  // (rows, words, width)
    for (std::int64_t w = 0; w < words; ++w) {
      const Access sums = pool_->turned(turns_++ % 2)(ds(0, at.rows), ds(0, at.width));
      for (std::int64_t t = 0; t < tiles; ++t) {
        b_.nc_transpose(sums(all, ds(t * side, side)),
                        drop(drop(natural(all, ds(t, 1), all, ds(w, 1)), 2), 0).view(DType::Float32));
      }
      b_.tensor_copy(drop(planes(all, ds(w, 1), all), 0).view(DType::Float32), sums, Engine::Scalar);
    }
    p.high = drop(planes(all, ds(words - 1, 1), all), 0);
    const Access low = drop(planes(all, ds(0, 1), all), 0);
    for (std::int64_t h = 0; s_.wide_ && h < 2; ++h)
      p.halves[h] = drop(low.view(DType::UInt16).split(0, 2)(all, all, ds(h, 1)), 1);
  }
  [[nodiscard]] std::vector<Task> tasks(const std::vector<Panel>& panels) const {
    std::vector<Task> tasks;
    for (const Panel& p : panels) {
      const Plane& to = p.place.source.plane;
      for (std::int64_t i = 0; i < moduli_->count; ++i)
        tasks.push_back({p.four, moduli_->first + i, p.place.row + to.row, p.place.column + to.column});
    }
    return tasks;
  }

  Slices& s_;
  Builder& b_;
  std::shared_ptr<Pool> pool_;
  std::vector<Place> places_;
  std::optional<Moduli> moduli_;
  std::int64_t together_, groups_ = 0;
  std::size_t turns_ = 0;
  ResidueTiles tiles_;
  std::vector<std::vector<Panel>> panels_;
  std::vector<std::optional<Residues>> residues_;
};

void Slices::store(const Panel& p) {
  const Place& at = p.place;
  b_.dma_copy(
      numbers_.limbs(all, ds(at.row + at.source.plane.row, at.rows), ds(at.column + at.source.plane.column, at.width))
          .permute({1, 0, 2}),
      p.four);
}

// Rows [r0, r0 + rows) and columns [k0, k0 + columns) of sources, a tile of each in turn.
std::vector<Slices::Place> Slices::places(const std::vector<Source>& sources, const Affine& r0, std::int64_t rows,
                                          const Affine& k0, std::int64_t columns) {
  std::vector<Place> places;
  for (std::int64_t r1 = 0; r1 < rows; r1 += side_) {
    const std::int64_t high = std::min(side_, rows - r1);
    std::vector<Access> biases;
    for (const Source& s : sources) biases.push_back(bias(s, r0 + r1, high));
    for (std::int64_t k1 = 0; k1 < columns; k1 += kColumns) {
      for (std::size_t s = 0; s < sources.size(); ++s)
        places.push_back({sources[s], biases[s], r0 + r1, k0 + k1, high, std::min(kColumns, columns - k1)});
    }
  }
  return places;
}

// Eight tiles at a time: what the last of them wait for is waited for once in four groups.
void Slices::stream(const std::vector<Source>& sources, const Rows& rows, const std::optional<Moduli>& moduli) {
  const std::int64_t columns = sources.front().x.dims[1].size,
                     tiles = kStreamed / static_cast<std::int64_t>(sources.size()),
                     wide = std::min(columns, tiles * kColumns), whole = rows.count / side_;
  // Of a complex operand several streams follow one another: in loops, of two runs or more, their tiles take no room
  // from what comes behind.
  std::int64_t together = std::max<std::int64_t>(1, tiles / blocks::ceil_div(wide, kColumns));
  while (complex_ && together > 1 && (whole % together != 0 || whole < 2 * together)) --together;
  const std::int64_t high = side_ * together;
  bool turned = false;
  for (const Source& s : sources) turned = turned || (turns(s) && columns >= side_);
  for_blocks(b_, "r", rows.count, high, LoopKind::Parallel, [&](const Affine& r0, std::int64_t count) {
    const auto pool = std::make_shared<Pool>(*this, std::min(side_, count), std::min(kColumns, columns));
    if (wide < columns) pool->reserve(4, turned);
    for_blocks(b_, "k", columns, wide, LoopKind::Parallel, [&](const Affine& k0, std::int64_t width) {
      Stream stream(*this, pool, places(sources, rows.first + r0, count, k0, width), moduli, 2);
      for (std::int64_t step = 0; step < stream.steps(); ++step) stream.step(step);
    });
  });
}

bool Slices::turns(const Source& source) const {
  const std::int64_t row = source.x.dims[0].stride, column = source.x.dims[1].stride;
  return b_.machine().pass_through_transpose && row == words_ && column > words_;
}

void Slices::limbs(const std::vector<Source>& sources) {
  const std::int64_t columns = sources.front().x.dims[1].size;
  std::int64_t common = sources.front().x.dims[0].size, most = 0, tiles = 0;
  for (const Source& s : sources) {
    const std::int64_t rows = s.x.dims[0].size;
    common = std::min(common, rows), most = std::max(most, rows);
    tiles += blocks::ceil_div(rows, side_) * blocks::ceil_div(columns, kColumns);
  }
  if (tiles <= kStreamed && !complex_) {  // all at once
    std::vector<Place> all_places;
    for (const Source& s : sources)
      std::ranges::move(places({s}, 0, s.x.dims[0].size, 0, columns), std::back_inserter(all_places));
    const auto pool = std::make_shared<Pool>(*this, std::min(side_, most), std::min(kColumns, columns));
    Stream stream(*this, pool, std::move(all_places), std::nullopt, 2);
    for (std::int64_t step = 0; step < stream.steps(); ++step) stream.step(step);
    return;
  }
  common = sources.size() > 1 ? common / side_ * side_ : 0;
  if (common > 0) stream(sources, {0, common}, std::nullopt);
  for (const Source& s : sources) {
    if (s.x.dims[0].size > common) stream({s}, {common, s.x.dims[0].size - common}, std::nullopt);
  }
}

void Slices::slice(const Source& source, const Rows& rows, const Moduli& moduli) { stream({source}, rows, moduli); }

Slices::Steps Slices::slice_steps(const Source& source, const Rows& rows, const Affine& k0, std::int64_t columns,
                                  const Moduli& moduli) {
  // The stream begins with the first step, where its tiles belong.
  const auto stream = std::make_shared<std::optional<Stream>>();
  const std::int64_t tiles = blocks::ceil_div(rows.count, side_) * blocks::ceil_div(columns, kColumns);
  Steps steps;
  for (std::int64_t step = 0; step < 5 * (tiles + 2); ++step) {
    steps.push_back([=, this] {
      const auto pool = std::make_shared<Pool>(*this, std::min(side_, rows.count), std::min(kColumns, columns));
      if (step == 0) stream->emplace(*this, pool, places({source}, rows.first, rows.count, k0, columns), moduli, 1);
      (*stream)->step(step);
    });
  }
  return steps;
}

double Slices::magic(int unit) { return std::ldexp(1.5, unit + 23); }

Access Slices::magic_of(int unit, int sign, std::int64_t rows) const {
  const auto at = std::find(kScalarUnits.begin(), kScalarUnits.end(), unit) - kScalarUnits.begin();
  return magic_(ds(0, rows), ds(2 * at + (sign < 0 ? 1 : 0), 1));
}

// to = the multiple of 2^unit nearest to x: one Vector instruction, or two of the Scalar Engine.
void Slices::multiple(const Access& to, const Access& x, int unit, Engine engine) {
  if (engine == Engine::Vector) {
    b_.tensor_scalar(to, x, AluOp::Add, magic(unit),
                     {.op1 = AluOp::Subtract, .operand1 = magic(unit), .engine = Engine::Vector});
    return;
  }
  b_.activation(to, ActFunction::Copy, x, {.bias = magic_of(unit, 1, x.partitions)});
  b_.activation(to, ActFunction::Copy, to, {.bias = magic_of(unit, -1, x.partitions)});
}

// The pieces of the significand, scaled. Fields stay where they lie in the word: the field of a number below 2^-1022
// counts as 1 and its leading bit as 0, which is maximum and minimum with the unit of the field. Every instruction for
// all panels, so that one's result is there when its turn comes again.
void Slices::scale(const std::vector<Panel>& panels) {
  const auto bits = [&](const Access& to, const Access& x, double mask, AluOp op1 = AluOp::None) {
    TensorScalarOptions options{.engine = Engine::Vector};
    options.op1 = op1;
    if (op1 != AluOp::None) options.operand1 = 0x1p31;
    b_.tensor_scalar(to, x, AluOp::BitwiseAnd, mask, options);
  };
  const auto each = [&](const auto& step) {
    for (const Panel& p : panels) step(p, p.work);
  };
  const double unit = wide_ ? 0x1p20 : 0x1p23, exponents = wide_ ? 0x7ff : 0xff;
  each([&](const Panel& p, const Work& w) { bits(w.field, p.high, exponents * unit); });
  // Largest first: its way is the longest.
  each([&](const Panel&, const Work& w) {
    b_.tensor_scalar(w.top, w.field, AluOp::Maximum, unit,
                     {.op1 = AluOp::Multiply, .operand1 = 0x1p23 / unit, .engine = Engine::Vector});
  });
  each(
      [&](const Panel& p, const Work& w) { b_.activation(w.scale, ActFunction::Relu, w.top, {.bias = p.place.bias}); });
  each([&](const Panel& p, const Work& w) {
    bits(w.sign, p.high, 0x1p31, p.place.source.plane.negated ? AluOp::BitwiseXor : AluOp::None);
  });
  each([&](const Panel& p, const Work& w) { bits(w.fraction, p.high, unit - 1); });
  each([&](const Panel&, const Work& w) {
    b_.scalar_tensor_tensor(w.top, w.field, AluOp::Minimum, unit, AluOp::Add, w.fraction);
  });
  each([&](const Panel&, const Work& w) {
    const Access scale = w.scale.view(DType::UInt32);
    b_.tensor_tensor(scale, scale, w.sign, AluOp::BitwiseOr, Engine::Vector);
  });
  each([&](const Panel&, const Work& w) {
    b_.tensor_tensor(w.top, w.top, w.factor(), AluOp::Multiply, Engine::Vector);
  });
  if (!wide_) return;
  each([&](const Panel& p, const Work& w) {
    b_.scalar_tensor_tensor(w.middle, p.halves[1], AluOp::Multiply, 0x1p-16, AluOp::Multiply, w.factor());
  });
  each([&](const Panel& p, const Work& w) {
    b_.activation(w.low, ActFunction::Copy, p.halves[0], {.scale = 0x1p-32});
    b_.tensor_tensor(w.low, w.low, w.factor(), AluOp::Multiply, Engine::GpSimd);
  });
}

void Slices::begin(const std::vector<Panel>& panels) {
  if (!wide_)
    whole_pieces(panels);
  else if (limbs_ == 4)
    begin_four(panels);
  else
    begin_few(panels);
}

void Slices::end(const std::vector<Panel>& panels) {
  if (!wide_) return;
  if (limbs_ == 4)
    end_four(panels);
  else
    end_few(panels);
}

void Slices::round(const std::vector<Panel>& panels) {
  if (!wide_) return;
  for (const Panel& p : panels) {
    const Access last = limb(p.four, 0);
    if (limbs_ == 4) {
      multiple(last, p.work.top, 0, Engine::Vector);
    } else {
      b_.scalar_tensor_tensor(last, p.work.top, AluOp::Subtract, magic(0), AluOp::Add,
                              p.work.field.view(DType::Float32));
    }
  }
}

// Float32: the one piece, unit by unit.
void Slices::whole_pieces(const std::vector<Panel>& panels) {
  for (std::int64_t l = limbs_ - 1; l >= 0; --l) {
    for (const Panel& p : panels)
      multiple(limb(p.four, l), p.work.top, units_[static_cast<std::size_t>(l)], Engine::Vector);
    for (const Panel& p : panels) {
      if (l > 0) b_.tensor_tensor(p.work.top, p.work.top, limb(p.four, l), kMinus, Engine::Vector);
    }
  }
}

// Numbers below 2^55. What is rounded is what slice() rounds: multiples of 2^16 are taken off each piece, whatever was
// taken off before, and the limbs' units lie elsewhere: what exceeds multiples of 2^22 goes down to the last limb.
void Slices::begin_few(const std::vector<Panel>& panels) {
  const auto each = [&](const auto& step) {
    for (const Panel& p : panels) step(p.four, p.work);
  };
  const auto combine = [&](const Access& to, const Access& x, const Access& y, AluOp op, Engine engine) {
    b_.tensor_tensor(to, x, y, op, engine);
  };
  constexpr Engine kVector = Engine::Vector, kScalar = Engine::Scalar, kGpSimd = Engine::GpSimd;
  const auto real = [](const Access& x) { return x.view(DType::Float32); };
  if (limbs_ > 2) {
    each([&](const Access& four, const Work& w) { multiple(limb(four, 2), w.top, units_[2], kVector); });
    each([&](const Access& four, const Work& w) { combine(w.top, w.top, limb(four, 2), kMinus, kVector); });
  }
  each([&](const Access&, const Work& w) { multiple(real(w.sign), w.middle, 16, kScalar); });
  each([&](const Access&, const Work& w) { multiple(real(w.field), w.top, 16, kVector); });
  each([&](const Access&, const Work& w) { multiple(real(w.fraction), w.low, 16, kScalar); });
  each([&](const Access&, const Work& w) { combine(w.top, w.top, real(w.field), kMinus, kVector); });
  each([&](const Access&, const Work& w) { combine(w.middle, w.middle, real(w.sign), kMinus, kGpSimd); });
  each([&](const Access&, const Work& w) { combine(real(w.field), real(w.field), real(w.sign), kPlus, kVector); });
  each([&](const Access&, const Work& w) { combine(w.low, w.low, real(w.fraction), kMinus, kGpSimd); });
  each([&](const Access&, const Work& w) { combine(w.middle, w.middle, w.low, kPlus, kGpSimd); });
  each([&](const Access&, const Work& w) { combine(real(w.field), real(w.field), real(w.fraction), kPlus, kGpSimd); });
}

void Slices::end_few(const std::vector<Panel>& panels) {
  const auto each = [&](const auto& step) {
    for (const Panel& p : panels) step(p.four, p.work);
  };
  const auto combine = [&](const Access& to, const Access& x, const Access& y, AluOp op, Engine engine) {
    b_.tensor_tensor(to, x, y, op, engine);
  };
  constexpr Engine kVector = Engine::Vector, kScalar = Engine::Scalar, kGpSimd = Engine::GpSimd;
  const auto real = [](const Access& x) { return x.view(DType::Float32); };
  each([&](const Access&, const Work& w) { combine(w.top, w.middle, w.top, kPlus, kVector); });
  each([&](const Access& four, const Work& w) { multiple(limb(four, 1), real(w.field), units_[1], kScalar); });
  each([&](const Access&, const Work& w) {
    b_.activation(w.top, ActFunction::Copy, w.top, {.bias = magic_of(0, 1, w.top.partitions)});
  });
  each([&](const Access& four, const Work& w) {
    combine(real(w.field), real(w.field), limb(four, 1), kMinus, kGpSimd);
  });
}

// Any number: limb by limb multiples of 2^48, 2^32, 2^16 are taken off each piece.
void Slices::begin_four(const std::vector<Panel>& panels) {
  const auto each = [&](const auto& step) {
    for (const Panel& p : panels) step(p.four, p.work);
  };
  const auto combine = [&](const Access& to, const Access& x, const Access& y, AluOp op, Engine engine) {
    b_.tensor_tensor(to, x, y, op, engine);
  };
  constexpr Engine kVector = Engine::Vector, kScalar = Engine::Scalar, kGpSimd = Engine::GpSimd;
  const auto real = [](const Access& x) { return x.view(DType::Float32); };
  // Of the top piece by Vector, of the others by Scalar and GpSimd.
  each([&](const Access& four, const Work& w) { multiple(limb(four, 3), w.top, 48, kVector); });
  each([&](const Access& four, const Work& w) { combine(w.top, w.top, limb(four, 3), kMinus, kVector); });
  each([&](const Access&, const Work& w) { multiple(real(w.field), w.top, 32, kVector); });
  each([&](const Access&, const Work& w) { combine(w.top, w.top, real(w.field), kMinus, kVector); });
  each([&](const Access&, const Work& w) { multiple(real(w.fraction), w.top, 16, kVector); });
  each([&](const Access&, const Work& w) { combine(w.top, w.top, real(w.fraction), kMinus, kVector); });
  each([&](const Access&, const Work& w) { multiple(w.more[0], w.middle, 32, kScalar); });
  each([&](const Access&, const Work& w) { multiple(w.more[1], w.low, 16, kScalar); });
  each([&](const Access&, const Work& w) { combine(w.middle, w.middle, w.more[0], kMinus, kGpSimd); });
  each([&](const Access&, const Work& w) { combine(w.low, w.low, w.more[1], kMinus, kGpSimd); });
  each([&](const Access&, const Work& w) { multiple(real(w.sign), w.middle, 16, kScalar); });
  each([&](const Access& four, const Work& w) { combine(limb(four, 2), real(w.field), w.more[0], kPlus, kGpSimd); });
  each([&](const Access&, const Work& w) { combine(w.middle, w.middle, real(w.sign), kMinus, kGpSimd); });
  each([&](const Access&, const Work& w) { combine(w.middle, w.middle, w.low, kPlus, kGpSimd); });
  each([&](const Access&, const Work& w) { combine(real(w.sign), real(w.fraction), real(w.sign), kPlus, kGpSimd); });
  each([&](const Access& four, const Work& w) { combine(limb(four, 1), real(w.sign), w.more[1], kPlus, kGpSimd); });
}

void Slices::end_four(const std::vector<Panel>& panels) {
  const auto each = [&](const auto& step) {
    for (const Panel& p : panels) step(p.four, p.work);
  };
  const auto combine = [&](const Access& to, const Access& x, const Access& y, AluOp op, Engine engine) {
    b_.tensor_tensor(to, x, y, op, engine);
  };
  constexpr Engine kVector = Engine::Vector;
  each([&](const Access&, const Work& w) { combine(w.top, w.middle, w.top, kPlus, kVector); });
}

void Slices::run(std::vector<Task> tasks) {
  ResidueTiles tiles;
  Residues residues(*this, std::move(tasks), tiles);
  for (std::int64_t step = 0; step < residues.steps(); ++step) residues.step(step);
}

std::vector<Slices::Task> Slices::load_tasks(const Moduli& moduli, const Affine& row0, std::int64_t high,
                                             const Affine& column, std::int64_t width, std::int64_t buffers,
                                             std::vector<Access>* through) {
  std::vector<Task> tasks;
  for (std::int64_t r1 = 0; r1 < high; r1 += side_) {
    const std::int64_t count = std::min(side_, high - r1);
    const Affine row = row0 + r1;
    const auto number = static_cast<std::size_t>(r1 / side_);
    const auto make = [&] { return b_.sbuf("four", count, {limbs_, width}, DType::Float32, buffers); };
    if (through && through->size() <= number) through->push_back(make());
    const Access four = through ? (*through)[number](ds(0, count), all, ds(0, width)) : make();
    b_.dma_copy(four, numbers_.limbs(all, ds(row, count), ds(column, width)).permute({1, 0, 2}),
                {.dge = DgeMode::Static});
    for (std::int64_t i = 0; i < moduli.count; ++i) tasks.push_back({four, moduli.first + i, row, column});
  }
  return tasks;
}

void Slices::residues(const Moduli& moduli, const Rows& rows, const Affine& k0, std::int64_t columns) {
  const std::int64_t tiles = std::clamp<std::int64_t>(2 * kTasks / moduli.count, 1, 2);
  for_blocks(b_, "r", rows.count, tiles * side_, LoopKind::Parallel, [&](const Affine& r0, std::int64_t high) {
    for_blocks(b_, "k", columns, kColumns, LoopKind::Parallel, [&](const Affine& k1, std::int64_t width) {
      run(load_tasks(moduli, rows.first + r0, high, k0 + k1, width, tiles * moduli.count > kTasks ? 1 : 2, nullptr));
    });
  });
}

Slices::Steps Slices::residue_steps(const Moduli& moduli, const std::vector<Rows>& rows, const Affine& k0,
                                    std::int64_t columns) {
  // Tile by tile, all through the same memory.
  const auto tiles = std::make_shared<ResidueTiles>();
  const auto four = std::make_shared<std::vector<Access>>();
  Steps steps;
  for (std::int64_t k1 = 0; k1 < columns; k1 += kColumns) {
    const std::int64_t width = std::min(kColumns, columns - k1);
    for (const Rows& r : rows) {
      for (std::int64_t r0 = 0; r0 < r.count; r0 += side_) {
        const std::int64_t high = std::min(side_, r.count - r0);
        const auto residues = std::make_shared<std::optional<Residues>>();
        const std::int64_t count = blocks::ceil_div(moduli.count, kTasks) + 1;
        for (std::int64_t step = 0; step < count; ++step) {
          steps.push_back([=, this] {
            if (step == 0) {
              residues->emplace(*this, load_tasks(moduli, r.first + r0, high, k0 + k1, width, 1, four.get()), *tiles);
            }
            (*residues)->step(step);
          });
        }
      }
    }
  }
  return steps;
}

void Slices::divide(const Access& q, const Access& x, const Affine& i) {
  b_.activation(q, ActFunction::Copy, x, {.scale = constant(kInverse, i, x.partitions)});
}

void Slices::subtract(const Access& dst, const Access& x, const Access& q, const Affine& i) {
  b_.scalar_tensor_tensor(dst, q, AluOp::Multiply, constant(kMinusP, i, x.partitions), AluOp::Add, x);
}

}  // namespace trn::blas::device

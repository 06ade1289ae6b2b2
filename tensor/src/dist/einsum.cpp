// einsum of distributed arrays: how the work is cut, which slices go where, and the sum of parts.
#include <trn/tensor/dist_einsum.hpp>

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include <trn/comm/agreement.hpp>
#include <trn/core/enumerators.hpp>
#include <trn/core/error.hpp>
#include <trn/tensor/einsum.hpp>

namespace trn::tensor {

std::string_view name(Sharding sharding) {
  switch (sharding) {
    case Sharding::Automatic:
      return "automatic";
    case Sharding::Output:
      return "output";
    case Sharding::Reduce:
      return "reduce";
    case Sharding::Mixed:
      break;
  }
  return "mixed";
}

namespace {

constexpr const char* kName = "tensor.einsum";

// A label in parts, as equal as they can be.
struct Cut {
  Label label = -1;
  std::int64_t extent = 1, parts = 1;
  [[nodiscard]] std::int64_t begin(std::int64_t part) const { return extent * part / parts; }
};
struct Work {
  Cut output, sum;
};

// The longest of the labels; none: one part.
Cut longest(const std::vector<Label>& labels, const Sizes& sizes, std::int64_t parts) {
  Cut cut;
  for (const Label l : labels) {
    const std::int64_t extent = sizes[static_cast<std::size_t>(l)];
    if (cut.label < 0 || extent > cut.extent) cut = {l, extent, 1};
  }
  cut.parts = std::clamp<std::int64_t>(cut.extent, 1, parts);
  return cut;
}

bool has(const std::vector<Label>& labels, Label l) { return std::ranges::find(labels, l) != labels.end(); }

// Elements that move where every part has a rank of its own: operands in as many copies as there are parts along the
// cut whose label they lack, and the parts of D.
double volume(const Expression& e, const std::vector<Shape>& shapes, const Shape& d, const Work& w) {
  double all = static_cast<double>(element_count(d)) * static_cast<double>(w.sum.parts);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    double copies = 1;
    for (const Cut* cut : {&w.output, &w.sum})
      if (cut->label < 0 || !has(e.inputs[i], cut->label)) copies *= static_cast<double>(cut->parts);
    all += copies * static_cast<double>(element_count(shapes[i]));
  }
  return all;
}

std::pair<Work, Sharding> planned(const Expression& e, const Sizes& sizes, const std::vector<Shape>& shapes,
                                  const Shape& d, const DistEinsumOptions& o) {
  std::vector<Label> summed;
  for (const auto& labels : e.inputs)
    for (const Label l : labels)
      if (!has(e.output, l) && !has(summed, l)) summed.push_back(l);
  std::int64_t root = 1;
  while (root * root < o.parts) root *= 2;
  const auto cut = [&](Sharding s) -> Work {
    const std::int64_t across = s == Sharding::Reduce  ? 1
                                : s == Sharding::Mixed ? root
                                                       : o.parts,
                       along = s == Sharding::Output  ? 1
                               : s == Sharding::Mixed ? std::max<std::int64_t>(1, o.parts / root)
                                                      : o.parts;
    return {longest(e.output, sizes, across), longest(summed, sizes, along)};
  };
  if (o.sharding != Sharding::Automatic) return {cut(o.sharding), o.sharding};
  // The most parts first, then the fewest elements on the way.
  std::optional<std::pair<Work, Sharding>> best;
  for (const Sharding s : {Sharding::Output, Sharding::Mixed, Sharding::Reduce}) {
    const Work w = cut(s);
    const std::int64_t parts = w.output.parts * w.sum.parts;
    if (best) {
      const std::int64_t most = best->first.output.parts * best->first.sum.parts;
      if (parts < most || (parts == most && volume(e, shapes, d, w) >= volume(e, shapes, d, best->first))) continue;
    }
    best = {w, s};
  }
  return *best;
}

// Ranks as rows along the output's parts and columns along the sum's, as many as there is work for.
struct Workers {
  std::int64_t rows = 1, columns = 1;
  Workers(const Work& w, std::int64_t ranks) {
    for (std::int64_t r = 1; r <= std::min(ranks, w.output.parts); ++r) {
      const std::int64_t c = std::min(ranks / r, w.sum.parts);
      if (r * c >= rows * columns) rows = r, columns = c;
    }
  }
  // The parts of rank r.
  struct Range {
    std::int64_t begin, end;
  };
  [[nodiscard]] bool works(std::int64_t rank) const { return rank < rows * columns; }
  [[nodiscard]] Range output(const Cut& cut, std::int64_t rank) const {
    return {cut.parts * (rank / columns) / rows, cut.parts * (rank / columns + 1) / rows};
  }
  [[nodiscard]] Range sum(const Cut& cut, std::int64_t rank) const {
    return {cut.parts * (rank % columns) / columns, cut.parts * (rank % columns + 1) / columns};
  }
};

// The box of an array with these labels that lies within parts of both cuts. Extents of 1 are repeated: all of it.
dist::Boxes::Box slice(const std::vector<Label>& labels, const Shape& shape, const Work& w, Workers::Range output,
                       Workers::Range sum) {
  dist::Boxes::Box box{Shape(shape.size(), 0), shape};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    for (const auto& [cut, range] : {std::pair{&w.output, output}, std::pair{&w.sum, sum}}) {
      if (labels[i] != cut->label || (shape[i] == 1 && cut->extent != 1)) continue;
      box.begin[i] = cut->begin(range.begin);
      box.extent[i] = cut->begin(range.end) - box.begin[i];
    }
  }
  return box;
}

// A box of global indices within the memory of one that holds it.
template <class T> View<T> within(const View<T>& memory, const dist::Boxes::Box& whole, const dist::Boxes::Box& part) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < part.begin.size(); ++i) offset += (part.begin[i] - whole.begin[i]) * memory.strides()[i];
  return View<T>(memory.executor(), memory.data() == nullptr ? nullptr : memory.data() + offset, part.extent,
                 memory.strides());
}

std::int64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return static_cast<std::int64_t>(hash);
}

dist::Boxes::Box with_parts(std::int64_t begin, std::int64_t count, const dist::Boxes::Box& rest) {
  dist::Boxes::Box box{{begin}, {count}};
  box.begin.insert(box.begin.end(), rest.begin.begin(), rest.begin.end());
  box.extent.insert(box.extent.end(), rest.extent.begin(), rest.extent.end());
  return box;
}

template <class T> class Contraction {
 public:
  using Operands = std::initializer_list<std::reference_wrapper<const dist::Array<T>>>;
  Contraction(std::string_view text, Operands operands, const dist::Array<T>& d, const DistEinsumOptions& o,
              const Expression& e, const Work& w)
      : text_(text),
        operands_(operands),
        d_(d),
        options_(o),
        e_(e),
        w_(w),
        workers_(w, d.group().size()),
        me_(d.group().rank()) {}

  [[nodiscard]] std::int64_t ranks() const { return workers_.rows * workers_.columns; }

  Accuracy operator()() {
    const comm::Communicator& group = d_.group();
    comm::Agreement agreement(group);
    std::vector<dist::Boxes> wanted;
    std::vector<std::optional<trn::Array<T>>> local(operands_.size());
    for (std::size_t i = 0; i < operands_.size(); ++i) wanted.push_back(boxes(e_.inputs[i], shape_of(i)));
    const dist::Boxes result = boxes(e_.output, d_.shape());
    // Parts of the sum in front: what each rank makes, and what it adds up for its place of D.
    dist::Boxes made{with_parts(0, w_.sum.parts, {{}, d_.shape()}).extent, {}}, added{made.shape, {}};
    for (int r = 0; r < group.size(); ++r) {
      const Workers::Range sum = workers_.works(r) ? workers_.sum(w_.sum, r) : Workers::Range{0, 0};
      made.boxes.push_back(with_parts(sum.begin, sum.end - sum.begin, result.boxes[static_cast<std::size_t>(r)]));
      const bool has_some = r < d_.distribution().ranks();
      added.boxes.push_back(
          with_parts(0, has_some ? w_.sum.parts : 0,
                     has_some ? d_.distribution().boxes[static_cast<std::size_t>(r)]
                              : dist::Boxes::Box{Shape(d_.shape().size(), 0), Shape(d_.shape().size(), 0)}));
    }
    std::optional<trn::Array<T>> parts, gathered;
    agreement.attempt([&] {
      for (std::size_t i = 0; i < operands_.size(); ++i) local[i].emplace(d_.executor(), wanted[i].boxes[me_].extent);
      parts.emplace(d_.executor(), made.boxes[me_].extent);
      gathered.emplace(d_.executor(), added.boxes[me_].extent);
    });
    agreement.settle();
    for (std::size_t i = 0; i < operands_.size(); ++i)
      move(operands_.begin()[i].get().distribution(), wanted[i], operands_.begin()[i].get().local(), local[i]->view());
    Accuracy accuracy;
    agreement.attempt([&] { multiply(wanted, local, made, parts->view(), accuracy); });
    agreement.settle();
    move(made, added, parts->view(), gathered->view());
    agreement.attempt([&] { add(gathered->view()); });
    agreement.settle();
    const double u = unit_roundoff(dtype_of<T>) * static_cast<double>(w_.sum.parts - 1);
    const double bound = comm::maximum(group, accuracy.bound);
    accuracy.mode = static_cast<Mode>(comm::maximum(group, static_cast<std::int64_t>(accuracy.mode)));
    accuracy.passes = static_cast<int>(comm::maximum(group, static_cast<std::int64_t>(accuracy.passes)));
    accuracy.bound = bound + u * (1 + bound);
    return accuracy;
  }

 private:
  [[nodiscard]] const Shape& shape_of(std::size_t i) const { return operands_.begin()[i].get().shape(); }
  // What each rank has to do with an array of these labels.
  [[nodiscard]] dist::Boxes boxes(const std::vector<Label>& labels, const Shape& shape) const {
    dist::Boxes all{shape, {}};
    for (int r = 0; r < d_.group().size(); ++r) {
      if (workers_.works(r))
        all.boxes.push_back(slice(labels, shape, w_, workers_.output(w_.output, r), workers_.sum(w_.sum, r)));
      else
        all.boxes.push_back({Shape(shape.size(), 0), Shape(shape.size(), 0)});
    }
    return all;
  }
  void move(const dist::Boxes& from, const dist::Boxes& to, const View<T>& source, const View<T>& target) const {
    dist::detail::redistribute(d_.group(), dist::moves(from, to, d_.group().rank()), comm::detail::bytes_of(source),
                               comm::detail::bytes_of(target));
  }

  // This rank's parts, each on packed copies: neither strides nor addresses tell how many ranks there are.
  void multiply(const std::vector<dist::Boxes>& wanted, const std::vector<std::optional<trn::Array<T>>>& local,
                const dist::Boxes& made, const View<T>& parts, Accuracy& accuracy) const {
    if (!workers_.works(d_.group().rank()) || element_count(d_.shape()) == 0) return;
    const Workers::Range output = workers_.output(w_.output, d_.group().rank()),
                         sum = workers_.sum(w_.sum, d_.group().rank());
    for (std::int64_t a = output.begin; a < output.end; ++a) {
      for (std::int64_t b = sum.begin; b < sum.end; ++b) {
        std::vector<trn::Array<T>> packed;
        std::vector<TypedView> views;
        packed.reserve(operands_.size());
        for (std::size_t i = 0; i < operands_.size(); ++i) {
          const dist::Boxes::Box box = slice(e_.inputs[i], shape_of(i), w_, {a, a + 1}, {b, b + 1});
          packed.emplace_back(d_.executor(), box.extent);
          if (element_count(box.extent) > 0)
            copy(View<const T>(within(local[i]->view(), wanted[i].boxes[me_], box)), packed.back().view());
          views.emplace_back(packed.back().view());
        }
        const dist::Boxes::Box box = slice(e_.output, d_.shape(), w_, {a, a + 1}, {b, b + 1});
        const trn::Array<T> part(d_.executor(), box.extent);
        const Accuracy one = tensor::einsum(d_.executor(), text_, std::span<const TypedView>(views), part.view(),
                                            {.precision = options_.precision});
        if (one.bound >= accuracy.bound) accuracy = one;
        if (element_count(box.extent) == 0) continue;
        const dist::Boxes::Box place = with_parts(b, 1, box);
        Shape extent = box.extent;
        extent.insert(extent.begin(), 1);
        copy(View<const T>(part.executor(), part.data(), extent), within(parts, made.boxes[me_], place));
      }
    }
  }

  // D = the sum of the parts in their order, on the host.
  void add(const View<T>& gathered) const {
    const std::int64_t count = d_.local().size(), parts = w_.sum.parts;
    if (count == 0) return;
    std::vector<T> all(static_cast<std::size_t>(count * parts));
    const Executor host = Executor::host();
    copy(View<const T>(gathered), View<T>(host, all.data(), gathered.shape()));
    for (std::int64_t b = 1; b < parts; ++b)
      for (std::int64_t i = 0; i < count; ++i)
        all[static_cast<std::size_t>(i)] += all[static_cast<std::size_t>(b * count + i)];
    copy(View<const T>(host, all.data(), d_.local().shape()), d_.local());
  }

  std::string_view text_;
  Operands operands_;
  const dist::Array<T>& d_;
  const DistEinsumOptions& options_;
  const Expression& e_;
  Work w_;
  Workers workers_;
  std::size_t me_;
};

}  // namespace

template <Element T>
DistEinsumReport einsum(std::string_view text,
                        std::initializer_list<std::reference_wrapper<const dist::Array<T>>> operands,
                        const dist::Array<T>& d, const DistEinsumOptions& o) {
  std::vector<std::int64_t> said{
      static_cast<std::int64_t>(dtype_of<T>),        hash_of(text),
      static_cast<std::int64_t>(o.precision.mode()), std::bit_cast<std::int64_t>(o.precision.target_error()),
      static_cast<std::int64_t>(o.sharding),         o.parts};
  bool together = true;
  std::vector<Shape> shapes;
  std::vector<std::int64_t> ranks;
  const auto say = [&](const dist::Array<T>& x) {
    together = together && x.group() == d.group() && x.executor() == d.executor();
    said.push_back(static_cast<std::int64_t>(x.executor().family()));
    said.push_back(static_cast<std::int64_t>(x.shape().size()));
    said.insert(said.end(), x.shape().begin(), x.shape().end());
  };
  say(d);
  for (const dist::Array<T>& x : operands) {
    say(x);
    shapes.push_back(x.shape());
    ranks.push_back(static_cast<std::int64_t>(x.shape().size()));
  }
  said.push_back(together ? 1 : 0);
  d.group().transport().check({kName, said});
  require(together, "{}: operands and D belong to different groups or executors; make them on one", kName);
  operands::check_enumerator(kName, "Sharding", o.sharding, Sharding::Mixed);
  require(o.parts >= 1 && o.parts <= 4096, "{}: {} parts; give 1 to 4096", kName, o.parts);
  require(!d.shape().empty() && std::ranges::find(ranks, 0) == ranks.end(),
          "{}: '{}' has an operand or a result without labels; give it a label of extent 1", kName, text);
  const Expression e = parse(text, ranks);
  const Sizes sizes = sizes_of(e, shapes);
  Shape wanted;
  for (const Label l : e.output) wanted.push_back(sizes[static_cast<std::size_t>(l)]);
  require(wanted == d.shape(), "{}: '{}' has the shape {}, D {}", kName, text, trn::to_string(wanted),
          trn::to_string(d.shape()));
  const auto [work, sharding] = planned(e, sizes, shapes, d.shape(), o);
  Contraction<T> contraction(text, operands, d, o, e, work);
  const Accuracy accuracy = contraction();
  return {sharding, work.output.parts, work.sum.parts, contraction.ranks(), accuracy};
}

#define TRN_DIST(T)                                                                                        \
  template DistEinsumReport einsum<T>(std::string_view,                                                    \
                                      std::initializer_list<std::reference_wrapper<const dist::Array<T>>>, \
                                      const dist::Array<T>&, const DistEinsumOptions&);
TRN_DIST(float)
TRN_DIST(double)
TRN_DIST(std::complex<float>)
TRN_DIST(std::complex<double>)
#undef TRN_DIST

}  // namespace trn::tensor

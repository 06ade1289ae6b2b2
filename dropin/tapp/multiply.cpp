// One multiplication of the drop-in TAPP: a plan of trntensor with the program's host memory.
//
// On the host operands are used where they lie. On a device they are copied there, dense, and the elements of D come
// back; what has no kernel there is served by the host, as environment.hpp says.
#include <algorithm>
#include <array>
#include <atomic>
#include <complex>
#include <cstdio>
#include <cstdlib>

#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/core/layout.hpp>
#include <trn/tensor/plan.hpp>

#include "../environment.hpp"
#include "objects.hpp"

namespace trn::dropin {
namespace {

using tensor::TypedView;

std::array<std::atomic<long>, 2>& served() {  // by the host, by the device
  static std::array<std::atomic<long>, 2> counts{};
  return counts;
}

void print_report();
const Environment& settings() {
  // Never destroyed: a program may multiply in its own exit handlers.
  static const Environment* e = [] {
    auto* read = new Environment(read_environment("trntapp"));
    if (read->report) std::atexit(print_report);
    return read;
  }();
  return *e;
}
void print_report() {
  std::fprintf(stderr, "trntapp: host served %ld calls\n", served()[0].load());
  if (!settings().on_host)
    std::fprintf(stderr, "trntapp: %s served %ld calls\n", settings().executor.name().c_str(), served()[1].load());
}

// Factors have D's type.
std::complex<double> number(DType type, const void* at) {
  switch (type) {
    case DType::Float32:
      return *static_cast<const float*>(at);
    case DType::Float64:
      return *static_cast<const double*>(at);
    case DType::Complex64:
      return *static_cast<const std::complex<float>*>(at);
    case DType::Complex128:
      return *static_cast<const std::complex<double>*>(at);
    case DType::Float16:
      return static_cast<float>(*static_cast<const float16*>(at));
    case DType::BFloat16:
      return static_cast<float>(*static_cast<const bfloat16*>(at));
    default:
      fail<InternalError>("trntapp: a factor of type {}", name(type));
  }
}

// A tensor of the program.
struct HostTensor {
  DType type;
  void* data;
  tapp::Merged layout;
  [[nodiscard]] TypedView view() const { return {Executor::host(), type, data, layout.extents, layout.strides}; }
};

bool overlap(const HostTensor& x, const HostTensor& y) {
  const auto dims = [](const HostTensor& t) {
    std::vector<layout::Dim> list;
    for (std::size_t i = 0; i < t.layout.extents.size(); ++i)
      list.push_back({t.layout.extents[i], t.layout.strides[i]});
    return list;
  };
  const auto dx = dims(x), dy = dims(y);
  return layout::overlap({reinterpret_cast<std::uintptr_t>(x.data), size_bytes(x.type), dx},
                         {reinterpret_cast<std::uintptr_t>(y.data), size_bytes(y.type), dy});
}

void copy_elements(const TypedView& from, const TypedView& to) {
  const auto as = [&]<class T>(T) {
    copy(View<const T>(from.executor, static_cast<const T*>(from.data), from.shape, from.strides),
         View<T>(to.executor, static_cast<T*>(to.data), to.shape, to.strides));
  };
  switch (size_bytes(from.dtype)) {
    case 2:
      return as(std::uint16_t{});
    case 4:
      return as(float{});
    case 8:
      return as(double{});
    default:
      return as(std::complex<double>{});
  }
}

// A tensor as the program describes it: an operand may have a label twice.
tapp::Merged whole(const tapp::Labelled& t) { return {t.labels, t.info.extents, t.info.strides}; }

// Dense memory on an executor, with a tensor's elements.
class Staged {
 public:
  Staged(const Executor& executor, const HostTensor& tensor)
      : buffer_(executor, std::max<std::int64_t>(1, element_count(tensor.layout.extents)) * size_bytes(tensor.type)),
        view_(executor, tensor.type, buffer_.data(), tensor.layout.extents) {
    copy_elements(tensor.view(), view_);
  }
  [[nodiscard]] const TypedView& view() const { return view_; }

 private:
  Buffer buffer_;
  TypedView view_;
};

struct Call {
  const tapp::Product& product;
  tensor::Expression expression;
  bool conj[3];  // of A, B, C, with that of D multiplied in
  tensor::Scalars scalars;
};

tensor::Operand operand(const TypedView& view, bool conj) {
  return tensor::operand_of(view, conj ? tensor::Unary::Conj : tensor::Unary::Identity);
}

void execute(const Call& call, const Executor& executor, const Precision& precision, const TypedView& a,
             const TypedView& b, const TypedView* c, const TypedView& d) {
  tensor::Description description{
      call.expression, {operand(a, call.conj[0]), operand(b, call.conj[1])}, tensor::operand_of(d)};
  description.precision = precision;
  if (c) description.c = operand(*c, call.conj[2]);
  const std::array<TypedView, 2> views{a, b};
  const auto planned = [&] {
    const std::lock_guard lock(call.product.mutex);
    auto& kept = call.product.plan;
    if (!kept || !(kept->executor() == executor) || !(kept->description() == description))
      kept.emplace(executor, description);
    return *kept;
  };
  planned().execute(views, d, call.scalars, c);
}

void on_device(const Call& call, const Environment& e, const HostTensor& a, const HostTensor& b, const HostTensor* c,
               const HostTensor& d) {
  const Staged da(e.executor, a), db(e.executor, b), dd(e.executor, d);
  std::optional<Staged> dc;
  if (c) dc.emplace(e.executor, *c);
  execute(call, e.executor, e.products, da.view(), db.view(), dc ? &dc->view() : nullptr, dd.view());
  copy_elements(dd.view(), d.view());
}

// The labels of A, B and D as an expression.
tensor::Expression expression_of(const tapp::Product& p, const tapp::Merged& d) {
  tensor::Expression e;
  std::vector<std::int64_t> known;
  const auto number = [&](std::int64_t label) {
    const auto at = std::find(known.begin(), known.end(), label);
    if (at != known.end()) return static_cast<tensor::Label>(at - known.begin());
    known.push_back(label);
    e.names.push_back(label > ' ' && label < 127 ? std::string(1, static_cast<char>(label))
                                                 : "[" + std::to_string(label) + "]");
    return static_cast<tensor::Label>(known.size() - 1);
  };
  for (const auto* t : {&p.a, &p.b}) {
    e.inputs.emplace_back();
    for (const std::int64_t l : t->labels) e.inputs.back().push_back(number(l));
  }
  for (const std::int64_t l : d.labels) e.output.push_back(number(l));
  return e;
}

}  // namespace

tapp::Error tapp::multiply(const Product& p, const void* alpha, const void* a, const void* b, const void* beta,
                           const void* c, void* d) {
  if (!alpha || !beta) return say(Error::BadValue, "a factor is null");
  Call call{p, {}, {p.a.conj, p.b.conj, p.c.conj}, {number(p.d.info.type, alpha), number(p.d.info.type, beta)}};
  const bool uses_c = call.scalars.beta != 0.0;
  if (uses_c && !c) return say(Error::NoC, "");
  if (uses_c && p.c.info.type != p.d.info.type) return say(Error::NotThere, "C and D of different types");
  const HostTensor ta{p.a.info.type, const_cast<void*>(a), whole(p.a)};
  const HostTensor tb{p.b.info.type, const_cast<void*>(b), whole(p.b)};
  const HostTensor tc{p.d.info.type, const_cast<void*>(c), merged(p.c)}, td{p.d.info.type, d, merged(p.d)};
  if (element_count(td.layout.extents) == 0) return Error::None;
  if (!d) return say(Error::BadValue, "D is null");
  for (const auto& [name, t] : {std::pair{"A", &ta}, std::pair{"B", &tb}}) {
    if (!t->data && element_count(t->layout.extents) > 0) return say(Error::BadValue, std::string(name) + " is null");
  }
  if (p.d.conj) {  // conj(alpha A B + beta C) = conj(alpha) conj(A) conj(B) + conj(beta) conj(C)
    for (bool& conj : call.conj) conj = !conj;
    call.scalars = {std::conj(call.scalars.alpha), std::conj(call.scalars.beta)};
  }
  call.expression = expression_of(p, td.layout);
  const bool is_c = uses_c && c == d && tc.layout.strides == td.layout.strides;
  if (overlap(ta, td) || overlap(tb, td) || (uses_c && !is_c && overlap(tc, td))) return say(Error::Overlap, "");
  const HostTensor* separate = uses_c && (!is_c || call.conj[2]) ? &tc : nullptr;  // otherwise D is read
  const Environment& e = settings();
  try {
    if (!e.on_host) {
      try {
        on_device(call, e, ta, tb, separate, td);
        served()[1].fetch_add(1, std::memory_order_relaxed);
        return Error::None;
      } catch (const NotImplemented&) {
        note_host_call(e, "trntapp");
      }
    }
    std::optional<TypedView> view_of_c;
    if (separate) view_of_c.emplace(tc.view());
    const Precision precision = e.on_host || e.products.has_target() ? e.products : Precision();
    execute(call, e.host, precision, ta.view(), tb.view(), view_of_c ? &*view_of_c : nullptr, td.view());
    served()[0].fetch_add(1, std::memory_order_relaxed);
    return Error::None;
  } catch (const InvalidArgument& wrong) {  // labels, extents and memory were looked at before: types are left
    return say(Error::NotThere, wrong.what());
  }
}

}  // namespace trn::dropin

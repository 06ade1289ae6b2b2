// TAPP's handles: tensors and products as objects, with the checks of their labels and extents.
#include "objects.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>

#include <trn/core/error.hpp>
#include <trn/core/layout.hpp>

#include "tapp.hpp"

namespace trn::dropin::tapp {
namespace {

template <class T> T& object(std::intptr_t handle) { return *reinterpret_cast<T*>(handle); }
template <class T> std::intptr_t handle_of(std::unique_ptr<T> object) {
  return reinterpret_cast<std::intptr_t>(object.release());
}

// Runs f, whose exceptions become numbers.
template <class F> int guarded(const F& f) {
  try {
    return static_cast<int>(f());
  } catch (const std::bad_alloc&) {
    return static_cast<int>(say(Error::NoMemory, ""));
  } catch (const NotImplemented& e) {
    return static_cast<int>(say(Error::NotThere, e.what()));
  } catch (const std::exception& e) {
    return static_cast<int>(say(Error::Failed, e.what()));
  }
}

std::optional<DType> dtype_of_tapp(int type) {
  switch (type) {
    case TAPP_F32:
      return DType::Float32;
    case TAPP_F64:
      return DType::Float64;
    case TAPP_C32:
      return DType::Complex64;
    case TAPP_C64:
      return DType::Complex128;
    case TAPP_F16:
      return DType::Float16;
    case TAPP_BF16:
      return DType::BFloat16;
    default:
      return std::nullopt;
  }
}

bool extents_differ(const Labelled& x, const Labelled& y) {
  for (std::size_t i = 0; i < x.labels.size(); ++i) {
    for (std::size_t j = 0; j < y.labels.size(); ++j) {
      if (x.labels[i] == y.labels[j] && x.info.extents[i] != y.info.extents[j]) return true;
    }
  }
  return false;
}
bool has(const Labelled& x, std::int64_t label) {
  return std::find(x.labels.begin(), x.labels.end(), label) != x.labels.end();
}

bool overlaps_itself(const Labelled& d) {
  const Merged m = merged(d);
  std::vector<layout::Dim> dims;
  for (std::size_t i = 0; i < m.extents.size(); ++i) {
    if (m.extents[i] == 0) return false;
    dims.push_back({m.extents[i], m.strides[i]});
  }
  return layout::repeats(dims);
}

Error check(const Product& p) {
  if (extents_differ(p.a, p.a)) return Error::LabelTwiceInA;
  if (extents_differ(p.b, p.b)) return Error::LabelTwiceInB;
  if (extents_differ(p.d, p.d)) return Error::LabelTwiceInD;
  for (const std::int64_t l : p.d.labels) {
    if (!has(p.a, l) && !has(p.b, l)) return Error::NewLabelInD;
  }
  if (extents_differ(p.a, p.b)) return Error::ExtentsAb;
  if (extents_differ(p.a, p.d)) return Error::ExtentsAd;
  if (extents_differ(p.b, p.d)) return Error::ExtentsBd;
  if (p.c.labels.size() != p.d.labels.size()) return Error::RankOfC;
  if (p.c.labels != p.d.labels) return Error::LabelsOfC;
  if (p.c.info.extents != p.d.info.extents) return Error::ExtentsOfC;
  if (overlaps_itself(p.d)) return Error::DOverlapsItself;
  return Error::None;
}

Labelled labelled(std::intptr_t info, const std::int64_t* labels, int op) {
  const auto& t = object<TensorInfo>(info);
  return {t, {labels, labels + t.extents.size()}, op == TAPP_CONJUGATE};
}

}  // namespace

Merged merged(const Labelled& t) {
  Merged m;
  for (std::size_t i = 0; i < t.labels.size(); ++i) {
    const auto at = std::find(m.labels.begin(), m.labels.end(), t.labels[i]);
    if (at != m.labels.end()) {
      m.strides[static_cast<std::size_t>(at - m.labels.begin())] += t.info.strides[i];
    } else {
      m.labels.push_back(t.labels[i]);
      m.extents.push_back(t.info.extents[i]);
      m.strides.push_back(t.info.strides[i]);
    }
  }
  return m;
}

}  // namespace trn::dropin::tapp

using namespace trn::dropin::tapp;

// Handles, executors and statuses hold nothing: where calls run is said by the environment, for the whole program.
int TAPP_create_handle(std::intptr_t* handle) { return *handle = 0, 0; }
int TAPP_destroy_handle(std::intptr_t) { return 0; }
int TAPP_create_executor(std::intptr_t* executor) { return *executor = 0, 0; }
int TAPP_destroy_executor(std::intptr_t) { return 0; }
int TAPP_destroy_status(std::intptr_t) { return 0; }
int TAPP_attr_set(std::intptr_t, int, void*) { return static_cast<int>(say(Error::NotThere, "attributes")); }
int TAPP_attr_get(std::intptr_t, int, void**) { return static_cast<int>(say(Error::NotThere, "attributes")); }
int TAPP_attr_clear(std::intptr_t, int) { return static_cast<int>(say(Error::NotThere, "attributes")); }

int TAPP_create_tensor_info(std::intptr_t* info, int type, int modes, const std::int64_t* extents,
                            const std::int64_t* strides) {
  return guarded([&] {
    const auto dtype = dtype_of_tapp(type);
    if (!dtype) return say(Error::BadValue, "type " + std::to_string(type));
    if (modes < 0) return say(Error::NegativeRank, "");
    if (!info || (modes > 0 && (!extents || !strides))) return say(Error::BadValue, "an address is null");
    for (int i = 0; i < modes; ++i) {
      if (extents[i] < 0) return say(Error::NegativeExtent, "");
    }
    auto t = std::make_unique<TensorInfo>();
    t->type = *dtype;
    t->extents.assign(extents, extents + modes);
    t->strides.assign(strides, strides + modes);
    *info = handle_of(std::move(t));
    return Error::None;
  });
}
int TAPP_destroy_tensor_info(std::intptr_t info) { return delete &object<TensorInfo>(info), 0; }
int TAPP_get_nmodes(std::intptr_t info) { return static_cast<int>(object<TensorInfo>(info).extents.size()); }
int TAPP_set_nmodes(std::intptr_t info, int modes) {
  return guarded([&] {
    if (modes < 0) return say(Error::NegativeRank, "");
    auto& t = object<TensorInfo>(info);
    t.extents.resize(static_cast<std::size_t>(modes), 1);
    t.strides.resize(static_cast<std::size_t>(modes), 0);
    return Error::None;
  });
}
void TAPP_get_extents(std::intptr_t info, std::int64_t* extents) {
  const auto& t = object<TensorInfo>(info);
  std::copy(t.extents.begin(), t.extents.end(), extents);
}
int TAPP_set_extents(std::intptr_t info, const std::int64_t* extents) {
  auto& t = object<TensorInfo>(info);
  for (std::size_t i = 0; i < t.extents.size(); ++i) {
    if (extents[i] < 0) return static_cast<int>(say(Error::NegativeExtent, ""));
  }
  std::copy_n(extents, t.extents.size(), t.extents.begin());
  return 0;
}
void TAPP_get_strides(std::intptr_t info, std::int64_t* strides) {
  const auto& t = object<TensorInfo>(info);
  std::copy(t.strides.begin(), t.strides.end(), strides);
}
int TAPP_set_strides(std::intptr_t info, const std::int64_t* strides) {
  auto& t = object<TensorInfo>(info);
  std::copy_n(strides, t.strides.size(), t.strides.begin());
  return 0;
}

int TAPP_create_tensor_product(std::intptr_t* product, std::intptr_t, int op_a, std::intptr_t a,
                               const std::int64_t* labels_a, int op_b, std::intptr_t b, const std::int64_t* labels_b,
                               int op_c, std::intptr_t c, const std::int64_t* labels_c, int op_d, std::intptr_t d,
                               const std::int64_t* labels_d, int precision) {
  return guarded([&] {
    if (!product) return say(Error::BadValue, "the address of the product is null");
    for (const auto& [info, labels] : {std::pair{a, labels_a}, {b, labels_b}, {c, labels_c}, {d, labels_d}}) {
      if (info == 0) return say(Error::BadValue, "a tensor info is 0");
      if (!labels && !object<TensorInfo>(info).extents.empty()) return say(Error::BadValue, "labels are null");
    }
    auto p = std::make_unique<Product>();
    p->a = labelled(a, labels_a, op_a);
    p->b = labelled(b, labels_b, op_b);
    p->c = labelled(c, labels_c, op_c);
    p->d = labelled(d, labels_d, op_d);
    for (const int op : {op_a, op_b, op_c, op_d}) {
      if (op != TAPP_IDENTITY && op != TAPP_CONJUGATE)
        p->error = Error::BadValue, p->detail = "operator " + std::to_string(op);
    }
    // Precisions are the least that is asked for: what the types compute in meets all but double for single numbers.
    if (precision < TAPP_DEFAULT_PREC || precision > 6)
      p->error = Error::BadValue, p->detail = "precision " + std::to_string(precision);
    const trn::DType types[] = {p->a.info.type, p->b.info.type};
    if (precision == TAPP_F64 && trn::real_of(trn::tensor::compute_type(types)) != trn::DType::Float64)
      p->error = Error::NotThere, p->detail = "double precision for single numbers";
    if (p->error == Error::None) p->error = check(*p);
    const Error error = p->error;
    const std::string detail = p->detail;
    *product = handle_of(std::move(p));
    return error == Error::None ? error : say(error, detail);
  });
}
int TAPP_destroy_tensor_product(std::intptr_t product) { return delete &object<Product>(product), 0; }

int TAPP_execute_product(std::intptr_t product, std::intptr_t, std::intptr_t* status, const void* alpha, const void* a,
                         const void* b, const void* beta, const void* c, void* d) {
  if (status) *status = 0;
  return guarded([&] {
    if (product == 0) return say(Error::BadValue, "the product is 0");
    const auto& p = object<Product>(product);
    if (p.error != Error::None) return say(p.error, p.detail);
    return multiply(p, alpha, a, b, beta, c, d);
  });
}
int TAPP_execute_batched_product(std::intptr_t product, std::intptr_t executor, std::intptr_t* status, int batches,
                                 const void* alpha, const void** a, const void** b, const void* beta, const void** c,
                                 void** d) {
  if (batches < 0) return static_cast<int>(say(Error::BadValue, "the number of batches is negative"));
  if (batches > 0 && (!a || !b || !d)) return static_cast<int>(say(Error::BadValue, "a list of tensors is null"));
  for (int i = 0; i < batches; ++i) {
    const int error =
        TAPP_execute_product(product, executor, status, alpha, a[i], b[i], beta, c ? c[i] : nullptr, d[i]);
    if (error != 0) return error;
  }
  return 0;
}

// Khatri-Rao products and MTTKRP.
#include "decompose/cp_model.hpp"

#include <algorithm>

namespace trn::tensor {

template <RealScalar T> std::vector<T> khatri_rao(const CpModel<T>& model, std::size_t first, std::size_t last) {
  const auto r = as_size(model.rank);
  std::vector<T> product(r, T(1));
  for (std::size_t k = first; k < last; ++k) {
    const std::vector<T>& f = model.factors[k];
    std::vector<T> next(product.size() / r * f.size());
    T* out = next.data();
    for (std::size_t i = 0; i < product.size(); i += r) {
      for (std::size_t j = 0; j < f.size(); j += r, out += r) {
        for (std::size_t c = 0; c < r; ++c) out[c] = product[i + c] * f[j + c];
      }
    }
    product = std::move(next);
  }
  return product;
}

template <RealScalar T> std::vector<double> gram(const std::vector<T>& a, std::int64_t rank) {
  const auto r = as_size(rank);
  std::vector<double> g(r * r);
  for (std::size_t i = 0; i < a.size(); i += r) {
    for (std::size_t p = 0; p < r; ++p) {
      for (std::size_t q = 0; q < r; ++q) g[p * r + q] += static_cast<double>(a[i + p]) * static_cast<double>(a[i + q]);
    }
  }
  return g;
}

template <RealScalar T> Mttkrp<T>::Mttkrp(const Dense<T>& x) : x_(x) {
  // The split whose larger side is smallest: both Khatri-Rao products stay small beside X.
  std::int64_t best = x.size();
  for (std::size_t s = 1; s < modes(); ++s) {
    const std::int64_t left = x.before(static_cast<std::int64_t>(s)), larger = std::max(left, x.size() / left);
    if (larger < best) best = larger, split_ = s;
  }
  rows_ = x.before(static_cast<std::int64_t>(split_)), columns_ = x.size() / rows_;
}

template <RealScalar T> std::vector<T> Mttkrp<T>::side(const CpModel<T>& model, bool left) const {
  const auto x = row_major(x_.values, rows_, columns_);
  const std::vector<T> other = left ? khatri_rao(model, split_, modes()) : khatri_rao(model, 0, split_);
  std::vector<T> t(as_size((left ? rows_ : columns_) * model.rank));
  multiply<T>(left ? Op::N : Op::T, x, Op::N, row_major(other, left ? columns_ : rows_, model.rank),
              row_major(t, left ? rows_ : columns_, model.rank));
  return t;
}

template <RealScalar T>
std::vector<T> Mttkrp<T>::mode(const CpModel<T>& model, const std::vector<T>& side, std::size_t mode) const {
  const bool left = mode < split_;
  const auto r = as_size(model.rank), n = as_size(x_.shape[mode]);
  const std::vector<T> before = khatri_rao(model, left ? 0 : split_, mode),
                       after = khatri_rao(model, mode + 1, left ? split_ : modes());
  std::vector<T> m(n * r), sum(r);
  const T* t = side.data();
  for (std::size_t p = 0; p < before.size(); p += r) {
    for (std::size_t i = 0; i < n; ++i) {
      std::fill(sum.begin(), sum.end(), T(0));
      for (std::size_t q = 0; q < after.size(); q += r, t += r) {
        for (std::size_t c = 0; c < r; ++c) sum[c] += t[c] * after[q + c];
      }
      for (std::size_t c = 0; c < r; ++c) m[i * r + c] += sum[c] * before[p + c];
    }
  }
  return m;
}

template <RealScalar T> Dense<T> Mttkrp<T>::expand(const CpModel<T>& model) const {
  Dense<T> y(x_.shape);
  const std::vector<T> left = khatri_rao(model, 0, split_), right = khatri_rao(model, split_, modes());
  multiply<T>(Op::N, row_major(left, rows_, model.rank), Op::T, row_major(right, columns_, model.rank),
              row_major(y.values, rows_, columns_));
  return y;
}

template <RealScalar T> double Mttkrp<T>::distance_to(const CpModel<T>& model) const {
  const Dense<T> y = expand(model);
  return distance(std::span<const T>(x_.values), std::span<const T>(y.values));
}

#define TRN_INSTANTIATE(T)                                                            \
  template std::vector<T> khatri_rao<T>(const CpModel<T>&, std::size_t, std::size_t); \
  template std::vector<double> gram<T>(const std::vector<T>&, std::int64_t);          \
  template class Mttkrp<T>;
TRN_INSTANTIATE(float)
TRN_INSTANTIATE(double)
#undef TRN_INSTANTIATE

}  // namespace trn::tensor

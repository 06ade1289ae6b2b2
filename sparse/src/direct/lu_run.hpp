// The numbers of LU: fronts are put together from entries of A and from what their children left, eliminated, and what
// is left goes to the parent.
#pragma once

#include <algorithm>
#include <vector>

#include "direct/lu_analysis.hpp"
#include "direct/refine.hpp"
// after host/triangle.hpp, whose times() it uses
#include "direct/lu_front.hpp"

namespace trn::sparse::direct {

// What is kept of a front. e pivots; L is f x e with U11 in its upper triangle, U12 is e x (f - e).
template <Scalar T> struct LuNode {
  std::int64_t e = 0, f = 0;
  std::vector<std::int32_t> rows, columns;  // labels; pivots first
  Raw<T> lower, upper;
};

template <Scalar T> class LuRun {
 public:
  // `values`: scaled.
  LuRun(const LuAnalysis& analysis, const T* values, std::vector<LuNode<T>>& nodes)
      : analysis_(analysis),
        tree_(analysis.tree),
        values_(values),
        nodes_(nodes),
        rest_(static_cast<std::size_t>(tree_.nodes())) {}

  // The outcome's index is a column label.
  Outcome run() {
    const int threads = loop_threads();
    const Schedule plan = schedule(tree_, threads);
    std::vector<Outcome> outcomes(plan.subtrees.size());
    openmp_pieces(static_cast<std::int64_t>(plan.subtrees.size()), threads, [&](std::int64_t i, int) {
      outcomes[static_cast<std::size_t>(i)] = list(plan.subtrees[static_cast<std::size_t>(i)]);
    });
    Outcome first;
    for (const Outcome& o : outcomes) {
      if (!o.ok() && (first.ok() || o.index < first.index)) first = o;
    }
    return first.ok() ? list(plan.top) : first;
  }

 private:
  struct Scratch {
    std::vector<std::int32_t> where, row_places, column_places;
    std::vector<int> swaps;
  };

  Outcome list(const std::vector<std::int32_t>& of) {
    Scratch scratch;
    scratch.where.resize(static_cast<std::size_t>(tree_.n));
    for (const std::int32_t s : of) {
      const Outcome o = node(s, scratch);
      if (!o.ok()) return o;
    }
    return {};
  }

  std::int64_t waiting(std::int32_t c) const {
    const LuNode<T>& n = nodes_[static_cast<std::size_t>(c)];
    return n.f - n.e - static_cast<std::int64_t>(tree_.below(c).size());
  }

  // put(place, place, value) for the entries of A; children by add(child, places of rows, of columns).
  template <class Put, class Add> void assemble(std::int32_t s, Scratch& scratch, const Put* put, const Add& add) {
    const auto at = static_cast<std::size_t>(s);
    const std::int64_t k = tree_.width(s);
    std::int64_t delays = 0;
    for (const std::int32_t c : tree_.children_of(s)) delays += waiting(c);
    if (put != nullptr) {
      for (auto e = static_cast<std::size_t>(analysis_.entry_offsets[at]);
           e < static_cast<std::size_t>(analysis_.entry_offsets[at + 1]); ++e) {
        const auto& entry = analysis_.entries[e];
        (*put)(entry.row + (entry.row >= k ? delays : 0), entry.column + (entry.column >= k ? delays : 0),
               values_[entry.source]);
      }
    }
    std::int64_t extra = k;
    for (const std::int32_t c : tree_.children_of(s)) {
      const LuNode<T>& child = nodes_[static_cast<std::size_t>(c)];
      const std::int64_t count = child.f - child.e, late = waiting(c);
      const auto places = [&](const std::vector<std::int32_t>& labels, std::vector<std::int32_t>& to) {
        to.resize(static_cast<std::size_t>(count));
        for (std::int64_t i = 0; i < count; ++i) {
          std::int64_t place = extra + i;
          if (i >= late) {
            place = scratch.where[static_cast<std::size_t>(labels[static_cast<std::size_t>(child.e + i)])];
            if (place >= k) place += delays;
          }
          to[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(place);
        }
      };
      places(child.rows, scratch.row_places), places(child.columns, scratch.column_places);
      add(c, count);
      extra += late;
    }
  }

  Outcome node(std::int32_t s, Scratch& scratch) {
    const auto at = static_cast<std::size_t>(s);
    const std::int64_t k = tree_.width(s);
    const auto below = tree_.below(s);
    const auto u = static_cast<std::int64_t>(below.size());
    LuNode<T>& own = nodes_[at];
    own.rows.clear();
    std::int32_t place = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      const auto label = static_cast<std::int32_t>(tree_.first[at] + i);
      own.rows.push_back(label);
      scratch.where[static_cast<std::size_t>(label)] = place++;
    }
    own.columns = own.rows;
    for (const std::int32_t c : tree_.children_of(s)) {
      const LuNode<T>& child = nodes_[static_cast<std::size_t>(c)];
      for (std::int64_t i = child.e; i < child.e + waiting(c); ++i) {
        own.rows.push_back(child.rows[static_cast<std::size_t>(i)]);
        own.columns.push_back(child.columns[static_cast<std::size_t>(i)]);
      }
    }
    const auto p = static_cast<std::int64_t>(own.rows.size()), f = p + u;
    for (const std::int32_t label : below) {
      own.rows.push_back(label), own.columns.push_back(label);
      scratch.where[static_cast<std::size_t>(label)] = place++;
    }
    own.f = f;
    const auto threshold = static_cast<Real<T>>(analysis_.options.threshold);
    own.lower = Raw<T>(f * p), own.upper = Raw<T>(p * u);
    T *panel = own.lower.get(), *right = own.upper.get();
    std::fill_n(panel, f * p, T(0)), std::fill_n(right, p * u, T(0));
    const auto put = [&](std::int64_t i, std::int64_t j, T v) {
      if (j < p)
        panel[j * f + i] += v;
      else
        right[(j - p) * p + i] += v;
    };
    assemble(s, scratch, &put, [&](std::int32_t c, std::int64_t count) {
      const T* from = rest_[static_cast<std::size_t>(c)].get();
      const std::int32_t *ri = scratch.row_places.data(), *ci = scratch.column_places.data();
      const std::int64_t split = std::find_if(ri, ri + count, [&](std::int32_t x) { return x >= p; }) - ri;
      const auto column = [&](std::int64_t j) {
        const T* in = from + j * count;
        if (ci[j] < p) {
          T* out = panel + ci[j] * f;
          for (std::int64_t i = 0; i < count; ++i) out[ri[i]] += in[i];
        } else {
          T* out = right + (ci[j] - p) * p;
          for (std::int64_t i = 0; i < split; ++i) out[ri[i]] += in[i];
        }
      };
      if (count < 512)
        for (std::int64_t j = 0; j < count; ++j) column(j);
      else
        parallel_for(count, true, column);
    });
    const LuFront<T> front{f, p, u, panel, right, own.rows.data(), own.columns.data()};
    if (!front.eliminate(threshold, scratch.swaps)) return with_delays(s, p, scratch);
    own.e = p;
    if (u > 0) {
      Raw<T> rest(u * u);
      T* to = rest.get();
      subtract_product(u, u, p, panel + p, f, right, p, T(0), to, u);
      assemble(s, scratch, static_cast<decltype(&put)>(nullptr), [&](std::int32_t c, std::int64_t count) {
        const T* from = rest_[static_cast<std::size_t>(c)].get();
        const std::int32_t *ri = scratch.row_places.data(), *ci = scratch.column_places.data();
        const std::int64_t split = std::find_if(ri, ri + count, [&](std::int32_t x) { return x >= p; }) - ri;
        const auto column = [&](std::int64_t j) {
          if (ci[j] < p) return;
          const T* in = from + j * count;
          T* out = to + (ci[j] - p) * u - p;
          for (std::int64_t i = split; i < count; ++i) out[ri[i]] += in[i];
        };
        if (count < 512)
          for (std::int64_t j = 0; j < count; ++j) column(j);
        else
          parallel_for(count, true, column);
      });
      rest_[at] = std::move(rest);
    }
    drop_children(s);
    return {};
  }

  void drop_children(std::int32_t s) {
    for (const std::int32_t c : tree_.children_of(s)) rest_[static_cast<std::size_t>(c)].reset();
  }

  Outcome with_delays(std::int32_t s, std::int64_t p, Scratch& scratch) {
    LuNode<T>& own = nodes_[static_cast<std::size_t>(s)];
    const std::int64_t f = own.f;
    // Rows were swapped in vain: labels as they came.
    own.lower.reset(), own.upper.reset();
    std::copy_n(own.columns.begin(), tree_.width(s), own.rows.begin());
    std::int64_t extra = tree_.width(s);
    for (const std::int32_t c : tree_.children_of(s)) {
      const LuNode<T>& child = nodes_[static_cast<std::size_t>(c)];
      for (std::int64_t i = child.e; i < child.e + waiting(c); ++i)
        own.rows[static_cast<std::size_t>(extra++)] = child.rows[static_cast<std::size_t>(i)];
    }
    Raw<T> whole(f * f);
    T* a = whole.get();
    std::fill_n(a, f * f, T(0));
    const auto put = [&](std::int64_t i, std::int64_t j, T v) { a[j * f + i] += v; };
    assemble(s, scratch, &put, [&](std::int32_t c, std::int64_t count) {
      const T* from = rest_[static_cast<std::size_t>(c)].get();
      const std::int32_t *ri = scratch.row_places.data(), *ci = scratch.column_places.data();
      for (std::int64_t j = 0; j < count; ++j) {
        T* out = a + ci[j] * f;
        for (std::int64_t i = 0; i < count; ++i) out[ri[i]] += from[j * count + i];
      }
    });
    bool finite = true;
    const auto threshold = static_cast<Real<T>>(analysis_.options.threshold);
    const std::int64_t e = eliminate_with_delays(f, p, a, own.rows.data(), own.columns.data(), threshold, finite);
    const std::int32_t stuck = e < p ? own.columns[static_cast<std::size_t>(e)] : -1;
    if (!finite) return {Status::NotFinite, stuck};
    if (e < p && tree_.parent[static_cast<std::size_t>(s)] < 0) return {Status::Singular, stuck};
    const std::int64_t g = f - e;
    own.e = e;
    own.lower = Raw<T>(f * e), own.upper = Raw<T>(e * g);
    std::copy_n(a, f * e, own.lower.get());
    Raw<T> rest(g * g);
    for (std::int64_t j = 0; j < g; ++j) {
      std::copy_n(a + (e + j) * f, e, own.upper.get() + j * e);
      std::copy_n(a + (e + j) * f + e, g, rest.get() + j * g);
    }
    rest_[static_cast<std::size_t>(s)] = std::move(rest);
    drop_children(s);
    return {};
  }

  const LuAnalysis& analysis_;
  const Tree& tree_;
  const T* values_;
  std::vector<LuNode<T>>& nodes_;
  std::vector<Raw<T>> rest_;
};

}  // namespace trn::sparse::direct

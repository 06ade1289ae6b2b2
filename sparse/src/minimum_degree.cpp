// Approximate minimum degree (Amestoy, Davis, Duff 1996) on the quotient graph. A vertex that was eliminated is an
// element: the clique of what it was tied to. Vertices that became alike are one variable with a weight. A variable
// keeps a list of elements and one of variables; the members of its elements are its neighbours too. Its degree is
// bounded by |A_i| + |L_p| + sum over its other elements e of |L_e \ L_p|.
#include <cmath>

#include <trn/sparse/ordering.hpp>

#include "graph.hpp"

namespace trn::sparse {

namespace {

class MinimumDegree {
 public:
  explicit MinimumDegree(const Graph& g)
      : n_(static_cast<std::int32_t>(g.n)),
        pool_(g.neighbours),
        start_(g.offsets.begin(), g.offsets.end() - 1),
        length_(at(n_)),
        elements_(at(n_), 0),
        weight_(at(n_), 1),
        degree_(at(n_)),
        head_(at(n_) + 1, -1),
        next_(at(n_), -1),
        previous_(at(n_), -1),
        stamp_(at(n_), 0),
        outside_(at(n_), 0),
        outside_stamp_(at(n_), -1),
        hash_(at(n_), 0),
        state_(at(n_), State::Variable),
        first_merged_(at(n_), -1),
        next_merged_(at(n_), -1),
        last_merged_(at(n_), -1) {
    for (std::int32_t i = 0; i < n_; ++i) length_[at(i)] = static_cast<std::int32_t>(g.degree(i));
  }

  Permutation run() {
    // Vertices tied to a great part of the graph go last and are not neighbours meanwhile.
    const double dense = std::max(16.0, 10 * std::sqrt(double(n_)));
    std::vector<std::int32_t> last;
    for (std::int32_t i = 0; i < n_; ++i) {
      if (length_[at(i)] > dense) state_[at(i)] = State::Gone, last.push_back(i), eliminated_ += 1;
    }
    for (std::int32_t i = 0; i < n_; ++i) {
      if (state_[at(i)] == State::Gone) continue;
      std::int32_t* list = pool_.data() + start_[at(i)];
      std::int32_t kept = 0;
      for (std::int32_t k = 0; k < length_[at(i)]; ++k) {
        if (state_[at(list[k])] != State::Gone) list[kept++] = list[k];
      }
      length_[at(i)] = degree_[at(i)] = kept;
      insert(i);
    }
    std::vector<std::int32_t> pivots;
    while (eliminated_ < n_) pivots.push_back(step());
    Permutation order;
    order.reserve(at(n_));
    for (const std::int32_t p : pivots) {
      order.push_back(p);
      for (std::int32_t i = first_merged_[at(p)]; i >= 0; i = next_merged_[at(i)]) order.push_back(i);
    }
    for (const std::int32_t i : last) order.push_back(i);
    return order;
  }

 private:
  enum class State : std::uint8_t { Variable, Element, Gone };
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  void insert(std::int32_t i) {
    const std::int32_t d = degree_[at(i)];
    next_[at(i)] = head_[at(d)], previous_[at(i)] = -1;
    if (head_[at(d)] >= 0) previous_[at(head_[at(d)])] = i;
    head_[at(d)] = i;
    lowest_ = std::min(lowest_, d);
  }
  void remove(std::int32_t i) {
    if (previous_[at(i)] >= 0)
      next_[at(previous_[at(i)])] = next_[at(i)];
    else
      head_[at(degree_[at(i)])] = next_[at(i)];
    if (next_[at(i)] >= 0) previous_[at(next_[at(i)])] = previous_[at(i)];
  }
  // Variable j, with all that was merged into it, is eliminated together with i.
  void merge(std::int32_t i, std::int32_t j) {
    state_[at(j)] = State::Gone;
    weight_[at(i)] += weight_[at(j)];
    const std::int32_t end = last_merged_[at(j)] >= 0 ? last_merged_[at(j)] : j;
    next_merged_[at(j)] = first_merged_[at(j)];
    if (last_merged_[at(i)] >= 0)
      next_merged_[at(last_merged_[at(i)])] = j;
    else
      first_merged_[at(i)] = j;
    last_merged_[at(i)] = end;
  }

  std::int32_t step() {
    while (head_[at(lowest_)] < 0) ++lowest_;
    const std::int32_t p = head_[at(lowest_)];
    remove(p);
    ++round_;
    stamp_[at(p)] = round_;
    // L_p: the variables of p and of its elements, which it absorbs. Written at the end of the pool.
    const auto begin = static_cast<std::int64_t>(pool_.size());
    const auto take = [&](std::int64_t from, std::int64_t count) {
      for (std::int64_t k = from; k < from + count; ++k) {
        const std::int32_t i = pool_[at(k)];
        if (state_[at(i)] != State::Variable || stamp_[at(i)] == round_) continue;
        stamp_[at(i)] = round_;
        pool_.push_back(i);
        remove(i);
      }
    };
    for (std::int32_t k = 0; k < elements_[at(p)]; ++k) {
      const std::int32_t e = pool_[at(start_[at(p)] + k)];
      if (state_[at(e)] != State::Element) continue;
      take(start_[at(e)], length_[at(e)]);
      state_[at(e)] = State::Gone;
    }
    take(start_[at(p)] + elements_[at(p)], length_[at(p)] - elements_[at(p)]);
    state_[at(p)] = State::Element;
    start_[at(p)] = begin;
    std::int32_t* members = pool_.data() + begin;
    auto count = static_cast<std::int32_t>(static_cast<std::int64_t>(pool_.size()) - begin);
    std::int32_t size = 0;  // |L_p| by weight
    for (std::int32_t k = 0; k < count; ++k) size += weight_[at(members[k])];
    // outside[e] = |L_e \ L_p|.
    for (std::int32_t k = 0; k < count; ++k) {
      const std::int32_t i = members[k];
      for (std::int32_t l = 0; l < elements_[at(i)]; ++l) {
        const std::int32_t e = pool_[at(start_[at(i)] + l)];
        if (state_[at(e)] != State::Element) continue;
        if (outside_stamp_[at(e)] != round_) outside_stamp_[at(e)] = round_, outside_[at(e)] = degree_[at(e)];
        outside_[at(e)] -= weight_[at(i)];
      }
    }
    std::int32_t left = 0;
    for (std::int32_t k = 0; k < count; ++k) {
      const std::int32_t i = members[k];
      std::int32_t* list = pool_.data() + start_[at(i)];
      std::int32_t to = 0, bound = 0;
      std::uint32_t hash = static_cast<std::uint32_t>(p);
      for (std::int32_t l = 0; l < elements_[at(i)]; ++l) {
        const std::int32_t e = list[l];
        if (state_[at(e)] != State::Element) continue;
        if (outside_[at(e)] == 0) {  // inside L_p
          state_[at(e)] = State::Gone;
          continue;
        }
        bound += outside_[at(e)];
        hash += static_cast<std::uint32_t>(e);
        list[to++] = e;
      }
      const std::int32_t kept = to;
      // Room for p: an element of p or p itself has left the list.
      std::int32_t tail = to + 1;
      scratch_.clear();
      for (std::int32_t l = elements_[at(i)]; l < length_[at(i)]; ++l) {
        const std::int32_t j = list[l];
        if (state_[at(j)] != State::Variable || stamp_[at(j)] == round_) continue;
        bound += weight_[at(j)];
        hash += static_cast<std::uint32_t>(j);
        scratch_.push_back(j);
      }
      list[kept] = p;
      for (const std::int32_t j : scratch_) list[tail++] = j;
      elements_[at(i)] = kept + 1;
      length_[at(i)] = tail;
      if (kept == 0 && scratch_.empty()) {  // tied to L_p alone: nothing is lost by eliminating it now
        size -= weight_[at(i)];
        merge(p, i);
        continue;
      }
      degree_[at(i)] = std::min(degree_[at(i)], bound);
      hash_[at(i)] = hash;
      members[left++] = i;
    }
    eliminated_ += weight_[at(p)];
    count = left;
    find_alike(members, count);
    left = 0;
    for (std::int32_t k = 0; k < count; ++k) {
      const std::int32_t i = members[k];
      if (state_[at(i)] != State::Variable) continue;
      members[left++] = i;
      degree_[at(i)] = std::min(degree_[at(i)] + size, n_ - eliminated_) - weight_[at(i)];
      degree_[at(i)] = std::max(degree_[at(i)], 0);
      insert(i);
    }
    length_[at(p)] = left;
    degree_[at(p)] = size;
    pool_.resize(at(begin + left));
    return p;
  }

  // Variables of L_p with equal lists are one from now on.
  void find_alike(std::int32_t* members, std::int32_t count) {
    scratch_.assign(members, members + count);
    std::sort(scratch_.begin(), scratch_.end(), [&](std::int32_t x, std::int32_t y) {
      return hash_[at(x)] != hash_[at(y)] ? hash_[at(x)] < hash_[at(y)] : x < y;
    });
    for (std::size_t a = 0; a < scratch_.size(); ++a) {
      const std::int32_t i = scratch_[a];
      if (state_[at(i)] != State::Variable) continue;
      bool marked = false;
      for (std::size_t b = a + 1; b < scratch_.size() && hash_[at(scratch_[b])] == hash_[at(i)]; ++b) {
        const std::int32_t j = scratch_[b];
        if (state_[at(j)] != State::Variable || length_[at(j)] != length_[at(i)] ||
            elements_[at(j)] != elements_[at(i)])
          continue;
        const auto list = [&](std::int32_t v) { return pool_.data() + start_[at(v)]; };
        if (!marked) {
          ++alike_round_;
          if (alike_.empty()) alike_.assign(at(n_), 0);
          for (std::int32_t k = 0; k < length_[at(i)]; ++k) alike_[at(list(i)[k])] = alike_round_;
          marked = true;
        }
        if (std::all_of(list(j), list(j) + length_[at(j)],
                        [&](std::int32_t v) { return alike_[at(v)] == alike_round_; }))
          merge(i, j);
      }
    }
  }

  std::int32_t n_;
  std::vector<std::int32_t> pool_;
  std::vector<std::int64_t> start_;
  std::vector<std::int32_t> length_, elements_, weight_, degree_, head_, next_, previous_;
  std::vector<std::int32_t> stamp_, outside_, outside_stamp_;
  std::vector<std::uint32_t> hash_;
  std::vector<State> state_;
  std::vector<std::int32_t> first_merged_, next_merged_, last_merged_, scratch_, alike_;
  std::int32_t lowest_ = 0, round_ = 0, eliminated_ = 0, alike_round_ = 0;
};

}  // namespace

Permutation minimum_degree(const Pattern<>& a) {
  const Graph g("sparse.minimum_degree", a);
  if (g.n == 0) return {};
  return MinimumDegree(g).run();
}

}  // namespace trn::sparse

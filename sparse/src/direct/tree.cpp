// Elimination trees, nodes, merging, and how the work is shared.
#include "direct/tree.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

namespace trn::sparse::direct {

namespace {

using Ints = std::vector<std::int32_t>;
std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// parent(j) is the first later vertex that eliminating j ties to it. `ties(k, visit)` visits earlier vertices that k is
// tied to; roots of the trees so far are found by paths that are shortened as they are walked.
template <class Ties> Ints elimination_tree(std::int64_t n, const Ties& ties) {
  Ints parent(at(n), -1), ancestor(at(n), -1);
  for (std::int32_t k = 0; k < n; ++k) {
    ties(k, [&](std::int32_t j) {
      while (j >= 0 && j < k) {
        const std::int32_t next = ancestor[at(j)];
        ancestor[at(j)] = k;
        if (next < 0) parent[at(j)] = k;
        j = next;
      }
    });
  }
  return parent;
}

// Children before parents, subtrees together: place k holds vertex order[k].
Ints postorder(const Ints& parent) {
  const auto n = static_cast<std::int32_t>(parent.size());
  Ints head(at(n), -1), next(at(n), -1), stack, order;
  for (std::int32_t k = n - 1; k >= 0; --k) {
    if (parent[at(k)] >= 0) next[at(k)] = head[at(parent[at(k)])], head[at(parent[at(k)])] = k;
  }
  order.reserve(at(n));
  for (std::int32_t root = 0; root < n; ++root) {
    if (parent[at(root)] >= 0) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const std::int32_t v = stack.back(), child = head[at(v)];
      if (child < 0) {
        order.push_back(v), stack.pop_back();
      } else {
        head[at(v)] = next[at(child)];
        stack.push_back(child);
      }
    }
  }
  return order;
}

// Nodes before they are merged: columns with the same rows below them.
struct Fundamental {
  Ints first, last, parent;  // parent: a node
  std::vector<Ints> below;   // rows below the last column, rising
};

template <class Clique> Fundamental find_nodes(const Ints& parent, const Clique& clique) {
  const auto n = static_cast<std::int32_t>(parent.size());
  Fundamental f;
  Ints children(at(n), 0), mark(at(n), -1), waiting(at(n), -1), next, node_at(at(n), -1);
  for (const std::int32_t p : parent) {
    if (p >= 0) ++children[at(p)];
  }
  Ints list;
  std::size_t head = 0;
  const auto close = [&](std::int32_t last) {
    f.last.push_back(last);
    f.below.emplace_back(list.begin() + static_cast<std::ptrdiff_t>(head), list.end());
    const auto s = static_cast<std::int32_t>(f.last.size()) - 1;
    next.push_back(-1);
    if (parent[at(last)] >= 0) next[at(s)] = waiting[at(parent[at(last)])], waiting[at(parent[at(last)])] = s;
  };
  for (std::int32_t j = 0; j < n; ++j) {
    const auto s = static_cast<std::int32_t>(f.first.size()) - 1;
    bool goes_on = j > 0 && parent[at(j - 1)] == j && children[at(j)] == 1;
    if (goes_on) clique(j, [&](std::int32_t i) { goes_on = goes_on && (i <= j || mark[at(i)] == s); });
    if (goes_on) {
      ++head;
      node_at[at(j)] = s;
      continue;
    }
    if (j > 0) close(j - 1);
    const auto own = s + 1;
    f.first.push_back(j);
    node_at[at(j)] = own;
    list.clear(), head = 0;
    const auto take = [&](std::int32_t i) {
      if (i > j && mark[at(i)] != own) mark[at(i)] = own, list.push_back(i);
    };
    for (std::int32_t c = waiting[at(j)]; c >= 0; c = next[at(c)]) {
      for (const std::int32_t i : f.below[at(c)]) take(i);
    }
    clique(j, take);
    std::sort(list.begin(), list.end());
  }
  if (n > 0) close(n - 1);
  for (std::size_t s = 0; s < f.last.size(); ++s) {
    const std::int32_t p = parent[at(f.last[s])];
    f.parent.push_back(p < 0 ? -1 : node_at[at(p)]);
  }
  return f;
}

// Merges children into parents: always for very few columns, else while the zeros stored for it are a small part. A
// child's nc columns get the parent's np + up rows instead of their uc. Returns the node that each one became part of.
Ints merge(const Fundamental& f) {
  const auto count = static_cast<std::int32_t>(f.first.size());
  Ints into(at(count));
  std::iota(into.begin(), into.end(), 0);
  std::vector<double> zeros(at(count), 0), columns(at(count), 0);
  std::vector<Ints> children(at(count));
  for (std::int32_t p = 0; p < count; ++p) {
    columns[at(p)] += f.last[at(p)] - f.first[at(p)] + 1;
    const auto up = static_cast<double>(f.below[at(p)].size());
    Ints& own = children[at(p)];
    std::stable_sort(own.begin(), own.end(),
                     [&](std::int32_t x, std::int32_t y) { return f.below[at(x)].size() > f.below[at(y)].size(); });
    for (const std::int32_t c : own) {
      const double nc = columns[at(c)], np = columns[at(p)], all = nc + np;
      const double more = zeros[at(c)] + zeros[at(p)] + nc * (np + up - static_cast<double>(f.below[at(c)].size()));
      const double part = more / (all * (all + 1) / 2 + all * up);
      if (!(all <= 4 || part < 0.05 || (all <= 48 && part < 0.1) || (all <= 16 && part < 0.8))) continue;
      into[at(c)] = p;
      columns[at(p)] = all, zeros[at(p)] = more;
    }
    if (f.parent[at(p)] >= 0) children[at(f.parent[at(p)])].push_back(p);
    own = {};
  }
  for (std::int32_t s = count - 1; s >= 0; --s) into[at(s)] = into[at(into[at(s)])];
  return into;
}

// The tree of the merged nodes. Vertices are renumbered so that a node's are neighbours: a merged child's columns come
// after the subtrees of the other children. `order` is rearranged with them.
Tree finish(const Fundamental& f, const Ints& into, const Permutation& order) {
  const auto count = static_cast<std::int32_t>(f.first.size());
  const auto n = static_cast<std::int64_t>(order.size());
  Ints number(at(count), -1), heads, up;  // merged nodes: in the order of the node that they are named for
  for (std::int32_t s = 0; s < count; ++s) {
    if (into[at(s)] == s) number[at(s)] = static_cast<std::int32_t>(heads.size()), heads.push_back(s);
  }
  std::vector<Ints> members(heads.size());
  for (std::int32_t s = 0; s < count; ++s) members[at(number[at(into[at(s)])])].push_back(s);
  for (const std::int32_t s : heads) up.push_back(f.parent[at(s)] < 0 ? -1 : number[at(into[at(f.parent[at(s)])])]);
  const Ints sequence = postorder(up);
  Tree t;
  t.n = n;
  Ints label(at(n)), node(heads.size());
  t.order.reserve(at(n)), t.first.push_back(0);
  for (const std::int32_t g : sequence) {
    node[at(g)] = static_cast<std::int32_t>(t.first.size()) - 1;
    for (const std::int32_t s : members[at(g)]) {
      for (std::int32_t j = f.first[at(s)]; j <= f.last[at(s)]; ++j) {
        label[at(j)] = static_cast<std::int32_t>(t.order.size());
        t.order.push_back(order[at(j)]);
        t.node_of.push_back(node[at(g)]);
      }
    }
    t.first.push_back(static_cast<std::int32_t>(t.order.size()));
  }
  t.row_offsets.push_back(0);
  t.child_offsets.assign(heads.size() + 1, 0);
  for (const std::int32_t g : sequence) {
    t.parent.push_back(up[at(g)] < 0 ? -1 : node[at(up[at(g)])]);
    if (t.parent.back() >= 0) ++t.child_offsets[at(t.parent.back()) + 1];
    for (const std::int32_t i : f.below[at(heads[at(g)])]) t.rows.push_back(label[at(i)]);
    std::sort(t.rows.begin() + t.row_offsets.back(), t.rows.end());
    const auto u = static_cast<double>(static_cast<std::int64_t>(t.rows.size()) - t.row_offsets.back());
    t.row_offsets.push_back(static_cast<std::int64_t>(t.rows.size()));
    const double k = t.width(static_cast<std::int64_t>(t.parent.size()) - 1);
    t.flops += k * k * k / 3 + k * k * u + k * u * u;
    t.entries += static_cast<std::int64_t>(k * (k + 1) / 2 + k * u);
  }
  for (std::size_t s = 0; s < heads.size(); ++s) t.child_offsets[s + 1] += t.child_offsets[s];
  t.children.resize(at(t.child_offsets.back()));
  std::vector<std::int64_t> next(t.child_offsets.begin(), t.child_offsets.end());
  for (std::int32_t s = 0; s < t.nodes(); ++s) {
    if (t.parent[at(s)] >= 0) t.children[at(next[at(t.parent[at(s)])]++)] = s;
  }
  return t;
}

Permutation inverse_of(const Permutation& order) {
  Permutation place(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) place[at(order[k])] = static_cast<std::int64_t>(k);
  return place;
}

// From an elimination tree in the order that was asked for. `lists(order, place)` makes the cliques for an order.
template <class MakeClique> Tree tree_of(Ints parent, const Permutation& order, const MakeClique& make_clique) {
  const Ints post = postorder(parent);
  Permutation arranged(order.size()), place(order.size());
  Ints label(order.size()), moved(order.size(), -1);
  for (std::size_t k = 0; k < post.size(); ++k) label[at(post[k])] = static_cast<std::int32_t>(k);
  for (std::size_t k = 0; k < post.size(); ++k) {
    arranged[k] = order[at(post[k])];
    if (parent[at(post[k])] >= 0) moved[k] = label[at(parent[at(post[k])])];
  }
  place = inverse_of(arranged);
  const Fundamental f = find_nodes(moved, make_clique(arranged, place));
  return finish(f, merge(f), arranged);
}

}  // namespace

Tree symmetric_tree(const Lists& neighbours, const Permutation& order) {
  const Permutation place = inverse_of(order);
  const Ints parent = elimination_tree(static_cast<std::int64_t>(order.size()), [&](std::int32_t k, const auto& visit) {
    for (const std::int32_t v : neighbours.of(order[at(k)])) visit(static_cast<std::int32_t>(place[at(v)]));
  });
  return tree_of(parent, order, [&](const Permutation& arranged, const Permutation& where) {
    return [&neighbours, arranged, where](std::int32_t j, const auto& visit) {
      for (const std::int32_t v : neighbours.of(arranged[at(j)])) visit(static_cast<std::int32_t>(where[at(v)]));
    };
  });
}

Tree column_tree(std::int64_t columns, const Lists& rows, const Permutation& order) {
  const auto count = static_cast<std::int64_t>(rows.offsets.size()) - 1;
  Lists by_column;  // the rows of each column
  by_column.offsets.assign(at(columns) + 1, 0);
  for (const std::int32_t j : rows.items) ++by_column.offsets[at(j) + 1];
  for (std::size_t j = 0; j < at(columns); ++j) by_column.offsets[j + 1] += by_column.offsets[j];
  by_column.items.resize(rows.items.size());
  std::vector<std::int64_t> next(by_column.offsets.begin(), by_column.offsets.end());
  for (std::int64_t i = 0; i < count; ++i) {
    for (const std::int32_t j : rows.of(i)) by_column.items[at(next[at(j)]++)] = static_cast<std::int32_t>(i);
  }
  // The columns of a row are tied to one another: each to the one before it in the order suffices.
  Ints before(at(count), -1);
  const Ints parent = elimination_tree(columns, [&](std::int32_t k, const auto& visit) {
    for (const std::int32_t i : by_column.of(order[at(k)])) {
      visit(before[at(i)]);
      before[at(i)] = k;
    }
  });
  return tree_of(parent, order, [&](const Permutation&, const Permutation& where) {
    Lists beginning;  // rows by their first column
    beginning.offsets.assign(at(columns) + 1, 0);
    Ints leader(at(count), -1);
    for (std::int64_t i = 0; i < count; ++i) {
      for (const std::int32_t j : rows.of(i)) {
        const auto k = static_cast<std::int32_t>(where[at(j)]);
        if (leader[at(i)] < 0 || k < leader[at(i)]) leader[at(i)] = k;
      }
      if (leader[at(i)] >= 0) ++beginning.offsets[at(leader[at(i)]) + 1];
    }
    for (std::size_t j = 0; j < at(columns); ++j) beginning.offsets[j + 1] += beginning.offsets[j];
    beginning.items.resize(at(beginning.offsets.back()));
    std::vector<std::int64_t> to(beginning.offsets.begin(), beginning.offsets.end());
    for (std::int64_t i = 0; i < count; ++i) {
      if (leader[at(i)] >= 0) beginning.items[at(to[at(leader[at(i)])]++)] = static_cast<std::int32_t>(i);
    }
    return [&rows, beginning, where](std::int32_t j, const auto& visit) {
      for (const std::int32_t i : beginning.of(j)) {
        for (const std::int32_t c : rows.of(i)) visit(static_cast<std::int32_t>(where[at(c)]));
      }
    };
  });
}

Schedule schedule(const Tree& tree, int threads) {
  Schedule result;
  const std::int64_t count = tree.nodes();
  std::vector<double> work(at(count), 0);
  double total = 0;
  for (std::int64_t s = 0; s < count; ++s) {
    const double k = tree.width(s), u = static_cast<double>(tree.below(s).size());
    const double own = k * k * k / 3 + k * k * u + k * u * u + 100 * (k + u);
    work[at(s)] += own, total += own;
    if (tree.parent[at(s)] >= 0) work[at(tree.parent[at(s)])] += work[at(s)];
  }
  if (threads <= 1 || total < 1e6) {
    result.top.resize(at(count));
    std::iota(result.top.begin(), result.top.end(), 0);
    return result;
  }
  // Split the heaviest subtree until none is more than a fraction of a thread's share.
  std::priority_queue<std::pair<double, std::int32_t>> queue;
  std::vector<char> above(at(count), 0);
  for (std::int32_t s = 0; s < count; ++s) {
    if (tree.parent[at(s)] < 0) queue.emplace(work[at(s)], s);
  }
  while (!queue.empty() && queue.top().first > total / (6 * threads)) {
    const std::int32_t s = queue.top().second;
    queue.pop();
    above[at(s)] = 1;
    for (const std::int32_t c : tree.children_of(s)) queue.emplace(work[at(c)], c);
  }
  // Light subtrees travel together.
  Ints group(at(count), -1);
  double filled = 0;
  while (!queue.empty()) {
    const auto [weight, s] = queue.top();
    queue.pop();
    if (result.subtrees.empty() || filled + weight > total / (12 * threads)) result.subtrees.emplace_back(), filled = 0;
    filled += weight;
    group[at(s)] = static_cast<std::int32_t>(result.subtrees.size()) - 1;
  }
  for (std::int64_t s = count - 1; s >= 0; --s) {
    if (above[at(s)] == 0 && group[at(s)] < 0) group[at(s)] = group[at(tree.parent[at(s)])];
  }
  for (std::int32_t s = 0; s < count; ++s) {
    if (above[at(s)] != 0)
      result.top.push_back(s);
    else
      result.subtrees[at(group[at(s)])].push_back(s);
  }
  return result;
}

}  // namespace trn::sparse::direct

// Collective operations on views, on the host and on devices. NCCL: ncclBroadcast, ncclAllGather, ncclReduceScatter,
// ncclAllReduce, ncclSend and ncclRecv; MPI's names are the same.
//
// Every rank passes the same operation, type, counts and root; otherwise all ranks throw InvalidArgument and outputs
// are untouched. Views are contiguous or strided; those of a device are staged through host memory, with Copy events.
//
// Sums never depend on the number of ranks: integers wrap, and numbers with a rounding have sums of their own
// (reductions.hpp). There is no sum of floating-point views.
#pragma once

#include <concepts>
#include <vector>

#include <trn/comm/communicator.hpp>
#include <trn/core/view.hpp>

namespace trn::comm {

template <class T>
concept IntegerElement = Element<T> && std::integral<std::remove_const_t<T>>;
// Types that have an order: the exact minimum and maximum are the same in any order of ranks. A NaN anywhere is the
// result; -0 is below +0.
template <class T>
concept OrderedElement = IntegerElement<T> || std::same_as<T, float> || std::same_as<T, double>;

namespace detail {
// A view without its type.
struct Bytes {
  Executor executor;
  void* data;
  Shape shape;
  Strides strides;
  DType dtype;
};
template <Element T> [[nodiscard]] Bytes bytes_of(const View<T>& v) {
  return {v.executor(), const_cast<void*>(static_cast<const void*>(v.data())), v.shape(), v.strides(), dtype_of<T>};
}
void broadcast(const Communicator& group, int root, const Bytes& view);
void all_gather(const Communicator& group, const Bytes& mine, const Bytes& all);
void all_to_all(const Communicator& group, const Bytes& send, const Bytes& receive);
void all_to_all_v(const Communicator& group, const Bytes& send, const std::vector<std::int64_t>& send_counts,
                  const Bytes& receive, const std::vector<std::int64_t>& receive_counts);
void send_receive(const Communicator& group, int to, const Bytes& send, int from, const Bytes& receive);
enum class Reduction : std::uint8_t { Sum, Minimum, Maximum };
void all_reduce(const Communicator& group, Reduction reduction, const Bytes& view);
void reduce_scatter(const Communicator& group, const Bytes& all, const Bytes& mine);
}  // namespace detail

// Everybody has what `root` has.
template <Element T>
requires(!std::is_const_v<T>) void broadcast(const Communicator& group, int root, const View<T>& view) {
  detail::broadcast(group, root, detail::bytes_of(view));
}
// all(r, ...) = mine(...) of rank r: `all` has one extent more in front, the number of ranks.
template <Element From, Element T>
requires std::same_as<std::remove_const_t<From>, T>
void all_gather(const Communicator& group, const View<From>& mine, const View<T>& all) {
  detail::all_gather(group, detail::bytes_of(mine), detail::bytes_of(all));
}
// receive(r, ...) = send(this rank, ...) of rank r. Both have the number of ranks as first extent.
template <Element From, Element T>
requires std::same_as<std::remove_const_t<From>, T>
void all_to_all(const Communicator& group, const View<From>& send, const View<T>& receive) {
  detail::all_to_all(group, detail::bytes_of(send), detail::bytes_of(receive));
}
// Rank 1: send_counts[r] elements for rank r, one after another; receive_counts[r] come from rank r. The counts differ
// from rank to rank, but what one sends the other expects, which is checked.
template <Element From, Element T>
requires std::same_as<std::remove_const_t<From>, T>
void all_to_all_v(const Communicator& group, const View<From>& send, const std::vector<std::int64_t>& send_counts,
                  const View<T>& receive, const std::vector<std::int64_t>& receive_counts) {
  detail::all_to_all_v(group, detail::bytes_of(send), send_counts, detail::bytes_of(receive), receive_counts);
}
// Gives `send` to rank `to` and takes `receive` from rank `from`; -1: nobody, and the view is not looked at. Only the
// ranks concerned call it.
template <Element From, Element T>
requires std::same_as<std::remove_const_t<From>, T>
void send_receive(const Communicator& group, int to, const View<From>& send, int from, const View<T>& receive) {
  detail::send_receive(group, to, detail::bytes_of(send), from, detail::bytes_of(receive));
}

// view = the sum (minimum, maximum) over ranks, element by element. Integers wrap around as unsigned ones do.
template <IntegerElement T> void sum(const Communicator& group, const View<T>& view) {
  detail::all_reduce(group, detail::Reduction::Sum, detail::bytes_of(view));
}
template <OrderedElement T> void minimum(const Communicator& group, const View<T>& view) {
  detail::all_reduce(group, detail::Reduction::Minimum, detail::bytes_of(view));
}
template <OrderedElement T> void maximum(const Communicator& group, const View<T>& view) {
  detail::all_reduce(group, detail::Reduction::Maximum, detail::bytes_of(view));
}
// mine(...) = the sum over ranks of all(this rank, ...).
template <IntegerElement From, IntegerElement T>
requires std::same_as<std::remove_const_t<From>, T>
void reduce_scatter(const Communicator& group, const View<From>& all, const View<T>& mine) {
  detail::reduce_scatter(group, detail::bytes_of(all), detail::bytes_of(mine));
}
// Returns when all ranks are here.
void barrier(const Communicator& group);

// The same for one value.
template <Element T> [[nodiscard]] T broadcast(const Communicator& group, int root, T value) {
  broadcast(group, root, View<T>(Executor::host(), &value, {1}));
  return value;
}
template <IntegerElement T> [[nodiscard]] T sum(const Communicator& group, T value) {
  sum(group, View<T>(Executor::host(), &value, {1}));
  return value;
}
template <OrderedElement T> [[nodiscard]] T minimum(const Communicator& group, T value) {
  minimum(group, View<T>(Executor::host(), &value, {1}));
  return value;
}
template <OrderedElement T> [[nodiscard]] T maximum(const Communicator& group, T value) {
  maximum(group, View<T>(Executor::host(), &value, {1}));
  return value;
}

}  // namespace trn::comm

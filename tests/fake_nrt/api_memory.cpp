// The fake runtime's functions for tensors and tensor sets.
#include <cstring>

#include "entry.hpp"

using namespace fake;
using namespace trn::neuron::nrt;

namespace {

FakeTensor* known(const void* tensor) {
  auto* found = const_cast<FakeTensor*>(static_cast<const FakeTensor*>(tensor));
  return state().tensors.contains(found) ? found : nullptr;
}

FakeSet* known_set(const void* set) {
  auto* found = const_cast<FakeSet*>(static_cast<const FakeSet*>(set));
  return state().sets.contains(found) ? found : nullptr;
}

bool inside(const FakeTensor& tensor, std::size_t offset, std::size_t bytes) {
  return offset <= tensor.bytes && bytes <= tensor.bytes - offset;
}

}  // namespace

extern "C" {

Status nrt_tensor_allocate(int placement, int core, std::size_t bytes, const char*, Tensor** tensor) {
  Entry entry("nrt_tensor_allocate");
  if (entry.refused()) return entry.status;
  State& s = state();
  if (placement != kDeviceMemory) return entry.wrong("placement");
  if (core < 0 || core >= s.rules.cores) return entry.wrong("no such core");
  if (bytes == 0) return entry.wrong("no bytes");
  FakeCore& c = entry.on(core);
  if (bytes > s.rules.memory - std::min(s.rules.memory, c.memory_used)) return kResource;
  auto made = std::make_unique<FakeTensor>();
  made->storage = std::make_shared<Storage>(bytes, s.rules.zero);
  if (!made->storage->data) return kHostMemory;
  made->bytes = bytes;
  made->core = core;
  c.memory_used += bytes;
  s.tensors.insert(made.get());
  *tensor = reinterpret_cast<Tensor*>(made.release());
  return kSuccess;
}

Status nrt_tensor_allocate_slice(const Tensor* source, std::size_t offset, std::size_t bytes, const char*,
                                 Tensor** slice) {
  Entry entry("nrt_tensor_allocate_slice");
  if (entry.refused()) return entry.status;
  FakeTensor* from = known(source);
  if (!from) return entry.wrong("the source is not alive", kInvalidHandle);
  (void)entry.on(from->core);
  if (from->slice) return entry.wrong("a slice of a slice");
  if (!inside(*from, offset, bytes) || bytes == 0) return entry.wrong("it is not inside of its source");
  auto* made = new FakeTensor{from->storage, offset, bytes, from->core, true, 0, 0, from};
  ++from->slices;
  state().tensors.insert(made);
  *slice = reinterpret_cast<Tensor*>(made);
  return kSuccess;
}

void nrt_tensor_free(Tensor** tensor) {
  Entry entry("nrt_tensor_free");
  if (entry.refused()) return;
  FakeTensor* found = tensor ? known(*tensor) : nullptr;
  if (!found) {
    entry.wrong("it is not alive");
    return;
  }
  (void)entry.on(found->core);
  if (found->in_sets > 0) entry.wrong("a tensor set still holds it");
  if (found->slices > 0) entry.wrong("slices of it are alive");
  if (!found->slice && found->storage->pending > 0) entry.wrong("a run that uses it is not over");
  if (found->parent) --found->parent->slices;
  if (!found->slice) state().core(found->core).memory_used -= found->bytes;
  state().tensors.erase(found);
  delete found;
  *tensor = nullptr;
}

Status nrt_tensor_write(Tensor* tensor, const void* from, std::size_t offset, std::size_t bytes) {
  Entry entry("nrt_tensor_write");
  if (entry.refused()) return entry.status;
  FakeTensor* to = known(tensor);
  if (!to) return entry.wrong("it is not alive", kInvalidHandle);
  (void)entry.on(to->core);
  if (!inside(*to, offset, bytes)) return entry.wrong("outside of the tensor");
  if (to->storage->pending > 0) return entry.wrong("a run that uses it is not over");
  std::memcpy(to->data() + offset, from, bytes);
  return kSuccess;
}

Status nrt_tensor_read(const Tensor* tensor, void* to, std::size_t offset, std::size_t bytes) {
  Entry entry("nrt_tensor_read");
  if (entry.refused()) return entry.status;
  FakeTensor* from = known(tensor);
  if (!from) return entry.wrong("it is not alive", kInvalidHandle);
  (void)entry.on(from->core);
  if (!inside(*from, offset, bytes)) return entry.wrong("outside of the tensor");
  if (from->storage->pending > 0) return entry.wrong("a run that uses it is not over");
  std::memcpy(to, from->data() + offset, bytes);
  return kSuccess;
}

Status nrt_tensor_copy(const Tensor* source, std::size_t from_offset, Tensor* target, std::size_t to_offset,
                       std::size_t bytes) {
  Entry entry("nrt_tensor_copy");
  if (entry.refused()) return entry.status;
  FakeTensor *from = known(source), *to = known(target);
  if (!from || !to) return entry.wrong("a tensor is not alive", kInvalidHandle);
  (void)entry.on(from->core);
  if (from->core != to->core) return entry.wrong("tensors of two cores");
  if (!inside(*from, from_offset, bytes) || !inside(*to, to_offset, bytes)) return entry.wrong("outside of the tensor");
  if (from->storage->pending > 0 || to->storage->pending > 0) return entry.wrong("a run that uses it is not over");
  std::memcpy(to->data() + to_offset, from->data() + from_offset, bytes);
  return kSuccess;
}

Status nrt_allocate_tensor_set(TensorSet** set) {
  Entry entry("nrt_allocate_tensor_set");
  if (entry.refused()) return entry.status;
  auto* made = new FakeSet;
  state().sets.insert(made);
  *set = made;
  return kSuccess;
}

void nrt_destroy_tensor_set(TensorSet** set) {
  Entry entry("nrt_destroy_tensor_set");
  if (entry.refused()) return;
  FakeSet* found = set ? known_set(*set) : nullptr;
  if (!found) {
    entry.wrong("it is not alive");
    return;
  }
  if (found->pending > 0) entry.wrong("a run that uses it is not over");
  for (const auto& [name, tensor] : found->tensors) {
    if (!known(tensor)) {
      entry.wrong("its tensor '" + name + "' is gone already");
    } else {
      --tensor->in_sets;
    }
  }
  state().sets.erase(found);
  delete found;
  *set = nullptr;
}

Status nrt_get_tensor_from_tensor_set(TensorSet* set, const char* name, Tensor** tensor) {
  Entry entry("nrt_get_tensor_from_tensor_set");
  if (entry.refused()) return entry.status;
  FakeSet* found = known_set(set);
  if (!found) return entry.wrong("the set is not alive", kInvalidHandle);
  const auto there = found->tensors.find(name);
  if (there == found->tensors.end()) return kFailure;
  *tensor = reinterpret_cast<Tensor*>(there->second);
  return kSuccess;
}

Status nrt_add_tensor_to_tensor_set(TensorSet* set, const char* name, Tensor* tensor) {
  Entry entry("nrt_add_tensor_to_tensor_set");
  if (entry.refused()) return entry.status;
  FakeSet* found = known_set(set);
  FakeTensor* added = known(tensor);
  if (!found || !added) return entry.wrong("the set or the tensor is not alive", kInvalidHandle);
  if (found->pending > 0) return entry.wrong("a run that uses the set is not over");
  FakeTensor*& place = found->tensors[name];
  if (place) --place->in_sets;
  place = added;
  ++added->in_sets;
  return kSuccess;
}

}  // extern "C"

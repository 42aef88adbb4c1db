// A memo holds a value that is loaded once, shared, and evicted on request.
//
//   absl::StatusOr<Memo<Model>> model = MakeMemo<Model>(
//       "resnet",
//       [path]() -> absl::StatusOr<Model> { return ReadModel(path); });
//   {
//     absl::StatusOr<Handle<Model>> handle = model->Get();   // Loads.
//     if (!handle.ok()) return handle.status();
//     (*handle)->Predict(image);                             // A plain load.
//   }
//   absl::Status evicted = model->Evict();
//
// Ownership: copies of a Memo are the same memo. The value lives until it is
// evicted or the last copy ends. If a handle outlives the last copy, the value
// lives until that handle has ended and some memo is then made, loaded, listed
// or evicted. A name belongs to one memo at a time. Thread-safety: any number
// of threads may call everything; the value is shared const. A handle belongs
// to one thread at a time and may end on another. Destructors of thread_local
// and static objects may use memos, and a process may end while threads hold
// handles. A thread may be cancelled in a factory: threads that wait get
// Cancelled, and the next call loads again. Fork: the child has the values that
// the parent had. If another thread was loading or evicting a memo at that
// moment, the memo returns FailedPrecondition in the child for ever. A value
// that another thread had pinned stays pinned there. Memory: a memo takes 5 KiB
// and, if sizeof(T) is at most 4 KiB, sizeof(T) more whether or not a value is
// loaded. With jemalloc, the bytes of a value (heap and mappings) are measured
// exactly, or the statistics say why they are in doubt. With other allocators
// they are the declared bytes, see MemoStatistics. Time: Get() and the end of
// its handle together take about 1.3 ns once the value is loaded, less than
// five times a plain load, and 2 ns if sizeof(T) is above 4 KiB. Status: Get()
// returns the status of the factory, with the memo's name before the message;
// Internal if the factory threw or returned null; ResourceExhausted for
// std::bad_alloc, and for a thousand loads within each other;
// FailedPrecondition for a cycle of memos. Evict() returns FailedPrecondition
// if the value is in use, and Internal or ResourceExhausted if its destructor
// threw.
//
// Limits: memo does not find a cycle through threads that a factory starts and
// waits for.

#ifndef FOOTPRINT_MEMO_MEMO_H_
#define FOOTPRINT_MEMO_MEMO_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/base/optimization.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "footprint/memo/memo_core.h"

namespace footprint {

template <typename T>
class Memo;

// The most bytes that a program may declare: 128 TiB, the usual address space
// of a process.
inline constexpr int64_t kMostDeclaredBytes = int64_t{1} << 47;

namespace memo_internal {

// Returns whether a memo can hold a T. The memo stores a value once, moves it
// to its place, and destroys it there.
template <typename T>
constexpr bool IsMemoValue() {
  if constexpr (std::is_object_v<T> && !std::is_array_v<T> &&
                !std::is_const_v<T> && !std::is_volatile_v<T>) {
    return !std::is_abstract_v<T> && std::is_move_constructible_v<T> &&
           std::is_destructible_v<T>;
  } else {
    return false;
  }
}

// Returns whether a value is a null pointer or an empty function.
template <typename T>
bool IsNull(const T&) {
  return false;
}
template <typename T>
bool IsNull(T* const& value) {
  return value == nullptr;
}
template <typename T, typename Deleter>
bool IsNull(const std::unique_ptr<T, Deleter>& value) {
  return value == nullptr;
}
template <typename T>
bool IsNull(const std::shared_ptr<T>& value) {
  return value == nullptr;
}
template <typename T>
bool IsNull(const std::function<T>& value) {
  return value == nullptr;
}

template <typename T>
class TypedMemo;

// Makes a Memo from its core.
struct MemoAccess {
  template <typename T>
  static Memo<T> Make(std::shared_ptr<MemoCore> core) {
    return Memo<T>(std::move(core));
  }
};

// Values of larger types are allocated, so that an eviction returns their
// memory. The limit is about what a memo takes without a value.
inline constexpr size_t kLargestInlineBytes = 4096;

// The place of a memo's value. A small value lies within the memo, so that the
// memo is at a constant distance from what a handle points to. This makes a hit
// a third faster.
template <typename T, bool kIsInline = sizeof(T) <= kLargestInlineBytes>
class ValuePlace {
 public:
  static TypedMemo<T>* FindMemo(const T* value) {
    auto* const place = reinterpret_cast<ValuePlace*>(const_cast<T*>(value));
    return &static_cast<TypedMemo<T>&>(*place);
  }

 protected:
  const T* Construct(T&& value) { return new (bytes_) T(std::move(value)); }
  static void Destruct(const T* value) { value->~T(); }

 private:
  alignas(T) unsigned char bytes_[sizeof(T)];
};

// A large value is allocated, behind a pointer to its memo.
template <typename T>
class ValuePlace<T, false> {
 public:
  static TypedMemo<T>* FindMemo(const T* value) {
    return &static_cast<TypedMemo<T>&>(*Box::Around(value)->place);
  }

 protected:
  const T* Construct(T&& value) {
    // make_unique would write zeros first.
    std::unique_ptr<Box> box(new Box);
    box->place = this;
    const T* const constructed = new (box->bytes) T(std::move(value));
    box.release();
    return constructed;
  }
  static void Destruct(const T* value) {
    const std::unique_ptr<const Box> box(Box::Around(value));
    value->~T();
  }

 private:
  struct Box {
    ValuePlace* place;
    alignas(T) unsigned char bytes[sizeof(T)];

    static const Box* Around(const T* value) {
      return reinterpret_cast<const Box*>(
          reinterpret_cast<const unsigned char*>(value) - offsetof(Box, bytes));
    }
  };
};

template <typename T>
class TypedMemo final : public MemoCore, public ValuePlace<T> {
 public:
  using Factory = absl::AnyInvocable<absl::StatusOr<T>()>;

  TypedMemo(std::string name, Factory factory, MemoOptions options)
      : MemoCore(std::move(name), typeid(T), std::move(options)),
        factory_(std::move(factory)) {}
  ~TypedMemo() override { DestroyLast(); }

 private:
  absl::StatusOr<const void*> Load() override {
    if constexpr (sizeof(T) <= kLargestInlineBytes) {
      absl::StatusOr<T> value = RunFactory();
      return Keep(&value);
    } else {
      // A large value could overflow a thread's stack.
      const std::unique_ptr<absl::StatusOr<T>> value(
          new absl::StatusOr<T>(RunFactory()));
      return Keep(value.get());
    }
  }
  absl::StatusOr<T> RunFactory() {
    const UsersCancellation may_be_cancelled;
    return factory_();
  }
  absl::StatusOr<const void*> Keep(absl::StatusOr<T>* value) {
    if (!value->ok()) return value->status();
    if (IsNull(**value)) {
      return absl::InternalError(
          "the factory returned null; return the reason as a status");
    }
    return this->Construct(*std::move(*value));
  }
  void Destroy(const void* value) override {
    this->Destruct(static_cast<const T*>(value));
  }
  bool MayHoldMemory() const override {
    return !std::is_trivially_destructible_v<T> || std::is_pointer_v<T>;
  }

  Factory factory_;
};

}  // namespace memo_internal

// A pin on a value: the memo cannot evict it before the handle ends. Move-only.
template <typename T>
class [[nodiscard]] Handle {
 public:
  Handle(Handle&& other) noexcept
      : value_(std::exchange(other.value_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      Release();
      value_ = std::exchange(other.value_, nullptr);
    }
    return *this;
  }
  ~Handle() { Release(); }

  // Returns the value; null only after a move.
  const T* get() const { return value_; }
  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_; }

  // Returns the memo that the handle came from. Do not call it after a move.
  Memo<T> memo() const;

 private:
  friend class Memo<T>;
  explicit Handle(const T* value) : value_(value) {}
  static memo_internal::MemoCore* FindCore(const T* value) {
    if constexpr (memo_internal::IsMemoValue<T>()) {
      return memo_internal::TypedMemo<T>::FindMemo(value);
    } else {
      return nullptr;  // MakeMemo has refused to compile.
    }
  }
  void Release() {
    if (value_ == nullptr) return;
    if (ABSL_PREDICT_FALSE(!memo_internal::MemoCore::IsQuick())) {
      return ReleaseSlowly(value_);
    }
    FindCore(value_)->ReleaseQuickly();
  }
  // Releases the value out of line. The fast path finds the memo's address
  // within the instruction that counts; only this slow path needs it in a
  // register.
  ABSL_ATTRIBUTE_NOINLINE static void ReleaseSlowly(const T* value) {
    FindCore(value)->Release();
  }

  const T* value_;
};

namespace memo_internal {

template <typename T>
inline constexpr bool kIsNever = false;

// Declares what a program may call on a Memo, so that a Memo of a refused type
// gives no further compiler errors.
template <typename T>
struct RefusedMemo {
  absl::StatusOr<Handle<std::remove_all_extents_t<T>>> Get() const;
  absl::Status Evict(AfterEviction = AfterEviction::kPurgeFreeMemory) const;
  MemoStatistics statistics() const;
  const std::string& name() const;
};

}  // namespace memo_internal

// The memo of a value of type T. Copies are the same memo; see the top of this
// file.
template <typename T>
class Memo {
 public:
  // There is no move, so that no Memo is ever empty.
  Memo(const Memo& other) : Memo(other.core_) {}
  Memo& operator=(const Memo& other) {
    Memo copy(other);
    core_.swap(copy.core_);
    return *this;
  }
  ~Memo() { core_->RemoveMemo(); }

  // Returns a handle to the value, and loads the value first if needed. Threads
  // that call this during a load wait and get the same value, or the same
  // error. The next call after an error loads again.
  ABSL_ATTRIBUTE_ALWAYS_INLINE absl::StatusOr<Handle<T>> Get() const {
    const void* value = nullptr;
    if (ABSL_PREDICT_TRUE(memo_internal::MemoCore::IsQuick())) {
      value = core_->AcquireQuickly();
    }
    if (ABSL_PREDICT_FALSE(value == nullptr)) {
      // The result is moved here, so that no other function knows the address
      // of what Get() returns, and a hit can stay in registers.
      absl::StatusOr<Handle<T>> loaded = GetSlowly();
      return absl::StatusOr<Handle<T>>(std::move(loaded));
    }
    return Handle<T>(static_cast<const T*>(value));
  }

  // Destroys the value now. Returns ok also if no value is loaded. Returns
  // FailedPrecondition at once if the value is pinned, being loaded or being
  // evicted, or if a fork lost the memo. Returns Internal if the destructor
  // threw, or ResourceExhausted if it threw std::bad_alloc; the value is then
  // gone.
  absl::Status Evict(
      AfterEviction after = AfterEviction::kPurgeFreeMemory) const {
    return core_->Evict(after);
  }

  // Returns a copy of the counters. Those of loads and evictions are from one
  // moment; other threads may change hit_count and handle_count meanwhile.
  // Takes the lock that all memos share.
  MemoStatistics statistics() const { return core_->statistics(); }
  const std::string& name() const { return core_->name(); }

  // Returns whether both are the same memo; values are not compared.
  friend bool operator==(const Memo& left, const Memo& right) {
    return left.core_ == right.core_;
  }
  friend bool operator!=(const Memo& left, const Memo& right) {
    return !(left == right);
  }

 private:
  friend struct memo_internal::MemoAccess;
  friend class Handle<T>;

  // This is not inlined, so that the fast path is small enough to be inlined.
  ABSL_ATTRIBUTE_NOINLINE absl::StatusOr<Handle<T>> GetSlowly() const {
    const void* acquired = core_->TryAcquireFurther();
    if (acquired != nullptr) return Handle<T>(static_cast<const T*>(acquired));
    absl::StatusOr<const void*> value = core_->AcquireSlowly();
    if (!value.ok()) return std::move(value).status();
    return Handle<T>(static_cast<const T*>(*value));
  }

  explicit Memo(std::shared_ptr<memo_internal::MemoCore> core)
      : core_(std::move(core)) {
    core_->AddMemo();
  }

  std::shared_ptr<memo_internal::MemoCore> core_;
};

// These specialisations, and MakeMemo, refuse each type that no memo can hold,
// each with an error of one line.
template <typename T>
class Memo<const T> : public memo_internal::RefusedMemo<T> {
  static_assert(memo_internal::kIsNever<T>,
                "Memo<const T>: write Memo<T>; a memo's value is const anyway");
};
template <typename T>
class Memo<volatile T> : public memo_internal::RefusedMemo<T> {
  static_assert(memo_internal::kIsNever<T>,
                "Memo<volatile T>: write Memo<T>; a memo's value is const");
};
template <typename T>
class Memo<const volatile T> : public memo_internal::RefusedMemo<T> {
  static_assert(memo_internal::kIsNever<T>,
                "Memo<const volatile T>: write Memo<T>; its value is const");
};
template <typename T>
class Memo<T&> : public memo_internal::RefusedMemo<T> {
  static_assert(
      memo_internal::kIsNever<T>,
      "Memo<T&>: a memo holds a value; write Memo<T>, or Memo<T*> for "
      "what something else owns");
};
template <typename T>
class Memo<T&&> : public memo_internal::RefusedMemo<T> {
  static_assert(memo_internal::kIsNever<T>,
                "Memo<T&&>: a memo holds a value; write Memo<T>");
};
template <typename T, size_t kCount>
class Memo<T[kCount]> : public memo_internal::RefusedMemo<T> {
  static_assert(memo_internal::kIsNever<T>,
                "Memo<T[n]>: an array cannot be returned by a factory; write "
                "Memo<std::array<T, n>> or Memo<std::vector<T>>");
};
template <typename T>
class Memo<T[]> : public memo_internal::RefusedMemo<T> {
  static_assert(memo_internal::kIsNever<T>,
                "Memo<T[]>: write Memo<std::vector<T>>");
};

template <typename T>
Memo<T> Handle<T>::memo() const {
  return Memo<T>(FindCore(value_)->shared_from_this());
}

// Makes the memo of this name. If a load is measured without doubt, the
// statistics say whether its bytes differ from those that `options` declare.
// Returns InvalidArgument for an empty name, a null factory, declared bytes
// that are negative or more than kMostDeclaredBytes, or the name of a memo of
// another type; AlreadyExists if a memo has the name, since a second factory
// would never be called; FailedPrecondition if the process has a second copy of
// this library that is in use (single_copy.h).
template <typename T,
          std::enable_if_t<memo_internal::IsMemoValue<T>(), int> = 0>
absl::StatusOr<Memo<T>> MakeMemo(
    std::string name, absl::AnyInvocable<absl::StatusOr<T>()> factory,
    MemoOptions options) {
  if (factory == nullptr) {
    return absl::InvalidArgumentError(
        "memo \"" + name + "\": the factory is null; pass a function");
  }
  for (int64_t bytes :
       {options.declared_bytes, options.declared_load_peak_bytes}) {
    if (bytes >= 0 && bytes <= kMostDeclaredBytes) continue;
    return absl::InvalidArgumentError(
        "memo \"" + name + "\": " + std::to_string(bytes) +
        " bytes are declared; declare what a value takes, up to 128 TiB");
  }
  auto core = std::make_shared<memo_internal::TypedMemo<T>>(
      std::move(name), std::move(factory), std::move(options));
  // The Memo comes first, so that another thread does not find this name
  // unused.
  Memo<T> memo = memo_internal::MemoAccess::Make<T>(core);
  const absl::Status status = memo_internal::AddMemo(std::move(core));
  if (!status.ok()) return status;
  return memo;
}

// Makes a memo of which only the bytes of the value are declared; 0 if they are
// unknown. Returns the errors of the function above.
template <typename T,
          std::enable_if_t<memo_internal::IsMemoValue<T>(), int> = 0>
absl::StatusOr<Memo<T>> MakeMemo(
    std::string name, absl::AnyInvocable<absl::StatusOr<T>()> factory,
    int64_t declared_bytes = 0) {
  MemoOptions options;
  options.declared_bytes = declared_bytes;
  return MakeMemo<T>(std::move(name), std::move(factory), std::move(options));
}

// Refuses to compile, with one line that says why.
template <typename T, typename... Arguments,
          std::enable_if_t<!memo_internal::IsMemoValue<T>(), int> = 0>
absl::StatusOr<Memo<T>> MakeMemo(const std::string& /*name*/, Arguments&&...) {
  if constexpr (std::is_object_v<T> && !std::is_array_v<T> &&
                !std::is_const_v<T> && !std::is_volatile_v<T>) {
    static_assert(
        memo_internal::IsMemoValue<T>(),
        "MakeMemo<T>: T is abstract, or cannot be moved or destroyed; "
        "hold it by std::unique_ptr<T>");
  }
  static_assert(!std::is_void_v<T> && !std::is_function_v<T>,
                "MakeMemo<T>: a memo holds a value; let the factory return "
                "one, such as a bool");
  return absl::InternalError("not reached");
}

// Returns the memo of this name. Returns NotFound if there is none,
// InvalidArgument if it has another type.
template <typename T>
absl::StatusOr<Memo<T>> FindMemo(const std::string& name) {
  absl::StatusOr<std::shared_ptr<memo_internal::MemoCore>> core =
      memo_internal::FindMemoByName(name, typeid(T));
  if (!core.ok()) return core.status();
  return memo_internal::MemoAccess::Make<T>(*std::move(core));
}

// Returns the memo that holds this object. Returns NotFound if no memo does,
// for example if `value` is a copy.
template <typename T>
absl::StatusOr<Memo<T>> GetMemoByValue(const T& value) {
  absl::StatusOr<std::shared_ptr<memo_internal::MemoCore>> core =
      memo_internal::FindMemoByValue(&value, typeid(T));
  if (!core.ok()) return core.status();
  return memo_internal::MemoAccess::Make<T>(*std::move(core));
}

}  // namespace footprint

#endif  // FOOTPRINT_MEMO_MEMO_H_

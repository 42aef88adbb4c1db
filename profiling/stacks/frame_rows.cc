#include "footprint/profiling/stacks/frame_rows.h"

#include <dlfcn.h>
#include <string.h>

namespace footprint::profiling_internal {
namespace {

// The numbers of x86-64's registers in call frame information.
constexpr uint64_t kFramePointerRegister = 6;
constexpr uint64_t kStackPointerRegister = 7;
constexpr uint64_t kReturnAddressRegister = 16;

// The encodings of pointers (DW_EH_PE_...).
enum : uint8_t {
  kAbsolute = 0x00,
  kUleb128 = 0x01,
  kUnsigned2 = 0x02,
  kUnsigned4 = 0x03,
  kUnsigned8 = 0x04,
  kSleb128 = 0x09,
  kSigned2 = 0x0a,
  kSigned4 = 0x0b,
  kSigned8 = 0x0c,
  kRelativeToItself = 0x10,
  kRelativeToHeader = 0x30,
  kOmitted = 0xff,
};

// The encoding that every linker gives the header's table.
constexpr uint8_t kTableEncoding = kRelativeToHeader | kSigned4;

// Reads values in turn. Beyond the end it returns zeros, and `ok` is false.
class Cursor {
 public:
  Cursor(const uint8_t* begin, const uint8_t* end) : at_(begin), end_(end) {}

  bool ok() const { return ok_; }
  bool IsAtEnd() const { return at_ >= end_; }
  const uint8_t* at() const { return at_; }

  template <typename T>
  T Read() {
    T value = 0;
    if (static_cast<uintptr_t>(end_ - at_) < sizeof(T)) {
      ok_ = false;
      at_ = end_;
      return value;
    }
    memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }

  uint64_t ReadUleb128() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = Read<uint8_t>();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0 || !ok_) return value;
    }
  }

  int64_t ReadSleb128() {
    uint64_t value = 0;
    int shift = 0;
    uint8_t byte;
    do {
      byte = Read<uint8_t>();
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      shift += 7;
    } while ((byte & 0x80) != 0 && ok_);
    if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }

  // Reads a pointer in this encoding; it does not follow indirect ones.
  uintptr_t ReadEncoded(uint8_t encoding) {
    const uintptr_t own_address = reinterpret_cast<uintptr_t>(at_);
    uintptr_t value = 0;
    switch (encoding & 0x0f) {
      case kAbsolute:
      case kUnsigned8:
      case kSigned8:
        value = Read<uint64_t>();
        break;
      case kUleb128:
        value = ReadUleb128();
        break;
      case kUnsigned2:
        value = Read<uint16_t>();
        break;
      case kUnsigned4:
        value = Read<uint32_t>();
        break;
      case kSleb128:
        value = static_cast<uintptr_t>(ReadSleb128());
        break;
      case kSigned2:
        value = static_cast<uintptr_t>(intptr_t{Read<int16_t>()});
        break;
      case kSigned4:
        value = static_cast<uintptr_t>(intptr_t{Read<int32_t>()});
        break;
      default:
        ok_ = false;
    }
    return (encoding & 0x70) == kRelativeToItself ? own_address + value : value;
  }

  void Skip(uint64_t size) {
    if (size > static_cast<uintptr_t>(end_ - at_)) {
      ok_ = false;
      at_ = end_;
    } else {
      at_ += size;
    }
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
  bool ok_ = true;
};

// Opens an entry of .eh_frame, from behind its length to its end. It does not
// support lengths of 8 bytes, which are for sections beyond 4 GiB.
Cursor OpenEntry(const uint8_t* entry) {
  uint32_t size = 0;
  memcpy(&size, entry, sizeof(size));
  if (size == 0 || size == 0xffffffff) return Cursor(entry, entry);
  return Cursor(entry + sizeof(size), entry + sizeof(size) + size);
}

// Facts that all functions of a CIE share.
struct CommonInformation {
  bool ok = false;
  bool is_signal_frame = false;
  bool has_augmentation = false;
  uint8_t pointer_encoding = kAbsolute;
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  const uint8_t* instructions = nullptr;
  const uint8_t* end = nullptr;
};

CommonInformation ReadCommonInformation(const uint8_t* entry) {
  CommonInformation common;
  Cursor cursor = OpenEntry(entry);
  uint32_t size = 0;
  memcpy(&size, entry, sizeof(size));
  common.end = entry + sizeof(size) + size;
  cursor.Skip(4);  // The field that is 0 in a CIE.
  const uint8_t version = cursor.Read<uint8_t>();
  char augmentation[8] = {};
  for (size_t i = 0;; ++i) {
    const char letter = static_cast<char>(cursor.Read<uint8_t>());
    if (letter == '\0') break;
    if (i + 1 >= sizeof(augmentation) || !cursor.ok()) return common;
    augmentation[i] = letter;
  }
  common.code_alignment = cursor.ReadUleb128();
  common.data_alignment = cursor.ReadSleb128();
  const uint64_t return_address =
      version == 1 ? cursor.Read<uint8_t>() : cursor.ReadUleb128();
  if (return_address != kReturnAddressRegister) return common;
  if (augmentation[0] == 'z') {
    common.has_augmentation = true;
    const uint64_t augmentation_size = cursor.ReadUleb128();
    const uint8_t* const behind = cursor.at() + augmentation_size;
    for (const char* letter = augmentation + 1; *letter != '\0'; ++letter) {
      if (*letter == 'R') common.pointer_encoding = cursor.Read<uint8_t>();
      if (*letter == 'L') cursor.Read<uint8_t>();
      if (*letter == 'P') cursor.ReadEncoded(cursor.Read<uint8_t>());
      if (*letter == 'S') common.is_signal_frame = true;
    }
    common.instructions = behind;
  } else {
    common.instructions = cursor.at();
  }
  common.ok = cursor.ok();
  return common;
}

// The state of the relevant registers after the instructions read so far.
struct Registers {
  enum CfaKind : uint8_t { kRegister, kExpression, kOther };
  CfaKind cfa_kind = kOther;
  uint64_t cfa_register = 0;
  int64_t cfa_offset = 0;
  bool frame_pointer_is_saved = false;
  bool frame_pointer_is_unknown = false;
  int64_t frame_pointer_offset = 0;
  bool is_outermost = false;
  bool return_address_is_unknown = false;
};

// Reads "breg6 N; deref", which gcc writes if it aligned the stack.
void ReadCfaExpression(Cursor* cursor, Registers* registers) {
  constexpr uint8_t kBregFramePointer = 0x70 + kFramePointerRegister;
  constexpr uint8_t kDereference = 0x06;
  const uint64_t size = cursor->ReadUleb128();
  Cursor expression(cursor->at(), cursor->at() + size);
  cursor->Skip(size);
  registers->cfa_kind = Registers::kOther;
  if (!cursor->ok() || expression.Read<uint8_t>() != kBregFramePointer) return;
  const int64_t offset = expression.ReadSleb128();
  if (expression.Read<uint8_t>() != kDereference || !expression.IsAtEnd()) {
    return;
  }
  registers->cfa_kind = Registers::kExpression;
  registers->cfa_offset = offset;
}

void SaveAt(uint64_t number, int64_t offset, Registers* registers) {
  if (number == kFramePointerRegister) {
    registers->frame_pointer_is_saved = true;
    registers->frame_pointer_is_unknown = false;
    registers->frame_pointer_offset = offset;
  } else if (number == kReturnAddressRegister) {
    registers->return_address_is_unknown = offset != -8;
  }
}

// Notes that the register is neither unchanged nor at an offset from the CFA.
void Forget(uint64_t number, Registers* registers) {
  if (number == kFramePointerRegister) {
    registers->frame_pointer_is_unknown = true;
  } else if (number == kReturnAddressRegister) {
    registers->return_address_is_unknown = true;
  }
}

void Restore(uint64_t number, const Registers& initial, Registers* registers) {
  if (number == kFramePointerRegister) {
    registers->frame_pointer_is_saved = initial.frame_pointer_is_saved;
    registers->frame_pointer_is_unknown = initial.frame_pointer_is_unknown;
    registers->frame_pointer_offset = initial.frame_pointer_offset;
  } else if (number == kReturnAddressRegister) {
    registers->return_address_is_unknown = initial.return_address_is_unknown;
    registers->is_outermost = initial.is_outermost;
  }
}

// The instructions, DW_CFA_...
enum : uint8_t {
  kNop = 0x00,
  kSetLocation = 0x01,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefineCfa = 0x0c,
  kDefineCfaRegister = 0x0d,
  kDefineCfaOffset = 0x0e,
  kDefineCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSigned = 0x11,
  kDefineCfaSigned = 0x12,
  kDefineCfaOffsetSigned = 0x13,
  kValueOffset = 0x14,
  kValueOffsetSigned = 0x15,
  kValueExpression = 0x16,
  kGnuArgumentsSize = 0x2e,
  kGnuNegativeOffsetExtended = 0x2f,
  // These have their code in the two high bits and an operand in the six low
  // ones.
  kAdvance = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
};

// Runs instructions up to `pc`. Fails if an instruction is unknown.
class Interpreter {
 public:
  Interpreter(const CommonInformation& common, uintptr_t begin, uintptr_t pc)
      : common_(common), location_(begin), pc_(pc) {}

  bool RunCommon() {
    if (!Run(Cursor(common_.instructions, common_.end))) return false;
    initial_ = registers_;
    return true;
  }

  bool Run(Cursor cursor) {
    while (!cursor.IsAtEnd() && location_ <= pc_) {
      if (!RunOne(&cursor) || !cursor.ok()) return false;
    }
    return true;
  }

  const Registers& registers() const { return registers_; }

 private:
  static constexpr int kMaxStates = 8;

  // Advances; the row so far holds below the new location.
  void Advance(uint64_t units) {
    const uintptr_t next = location_ + units * common_.code_alignment;
    location_ = next;
  }

  bool RunOne(Cursor* cursor) {
    const uint8_t instruction = cursor->Read<uint8_t>();
    const uint8_t operand = instruction & 0x3f;
    switch (instruction & 0xc0) {
      case kAdvance:
        Advance(operand);
        return true;
      case kOffset:
        SaveAt(operand,
               static_cast<int64_t>(cursor->ReadUleb128()) *
                   common_.data_alignment,
               &registers_);
        return true;
      case kRestore:
        Restore(operand, initial_, &registers_);
        return true;
      default:
        return RunExtended(instruction, cursor);
    }
  }

  bool RunExtended(uint8_t instruction, Cursor* cursor) {
    switch (instruction) {
      case kNop:
        return true;
      case kSetLocation:
        location_ = cursor->ReadEncoded(common_.pointer_encoding);
        return true;
      case kAdvance1:
        Advance(cursor->Read<uint8_t>());
        return true;
      case kAdvance2:
        Advance(cursor->Read<uint16_t>());
        return true;
      case kAdvance4:
        Advance(cursor->Read<uint32_t>());
        return true;
      case kRememberState:
        if (state_count_ == kMaxStates) return false;
        states_[state_count_++] = registers_;
        return true;
      case kRestoreState:
        if (state_count_ == 0) return false;
        registers_ = states_[--state_count_];
        return true;
      case kGnuArgumentsSize:
        cursor->ReadUleb128();
        return true;
      case kDefineCfa:
      case kDefineCfaSigned:
      case kDefineCfaRegister:
      case kDefineCfaOffset:
      case kDefineCfaOffsetSigned:
      case kDefineCfaExpression:
        DefineCfa(instruction, cursor);
        return true;
      default:
        return RunRegister(instruction, cursor);
    }
  }

  void DefineCfa(uint8_t instruction, Cursor* cursor) {
    if (instruction == kDefineCfaExpression) {
      ReadCfaExpression(cursor, &registers_);
      return;
    }
    if (instruction == kDefineCfa || instruction == kDefineCfaSigned ||
        instruction == kDefineCfaRegister) {
      registers_.cfa_kind = Registers::kRegister;
      registers_.cfa_register = cursor->ReadUleb128();
    }
    if (instruction == kDefineCfa || instruction == kDefineCfaOffset) {
      registers_.cfa_offset = static_cast<int64_t>(cursor->ReadUleb128());
    } else if (instruction != kDefineCfaRegister) {
      registers_.cfa_offset = cursor->ReadSleb128() * common_.data_alignment;
    }
  }

  // Runs an instruction whose first operand is a register. Returns false if it
  // is not one of these.
  bool RunRegister(uint8_t instruction, Cursor* cursor) {
    const uint64_t number = cursor->ReadUleb128();
    switch (instruction) {
      case kOffsetExtended:
        SaveAt(number,
               static_cast<int64_t>(cursor->ReadUleb128()) *
                   common_.data_alignment,
               &registers_);
        return true;
      case kOffsetExtendedSigned:
        SaveAt(number, cursor->ReadSleb128() * common_.data_alignment,
               &registers_);
        return true;
      case kGnuNegativeOffsetExtended:
        SaveAt(number,
               -static_cast<int64_t>(cursor->ReadUleb128()) *
                   common_.data_alignment,
               &registers_);
        return true;
      case kRestoreExtended:
        Restore(number, initial_, &registers_);
        return true;
      case kUndefined:
        if (number == kReturnAddressRegister) registers_.is_outermost = true;
        return true;
      case kSameValue:
        if (number == kFramePointerRegister) {
          registers_.frame_pointer_is_saved = false;
        }
        return true;
      case kRegister:
        cursor->ReadUleb128();
        Forget(number, &registers_);
        return true;
      case kValueOffset:
        cursor->ReadUleb128();
        Forget(number, &registers_);
        return true;
      case kValueOffsetSigned:
        cursor->ReadSleb128();
        Forget(number, &registers_);
        return true;
      case kExpression:
        ReadRegisterExpression(number, cursor);
        return true;
      case kValueExpression:
        cursor->Skip(cursor->ReadUleb128());
        Forget(number, &registers_);
        return true;
      default:
        return false;
    }
  }

  // Reads "breg6 0" for the frame pointer: it is saved where it points to,
  // which is gcc's form if it aligned the stack.
  void ReadRegisterExpression(uint64_t number, Cursor* cursor) {
    constexpr uint8_t kBregFramePointer = 0x70 + kFramePointerRegister;
    const uint64_t size = cursor->ReadUleb128();
    Cursor expression(cursor->at(), cursor->at() + size);
    cursor->Skip(size);
    if (number == kFramePointerRegister &&
        expression.Read<uint8_t>() == kBregFramePointer &&
        expression.ReadSleb128() == 0 && expression.IsAtEnd()) {
      registers_.frame_pointer_is_saved = true;
      registers_.frame_pointer_is_unknown = false;
      registers_.frame_pointer_offset = 0;
    } else {
      Forget(number, &registers_);
    }
  }

  const CommonInformation& common_;
  uintptr_t location_;
  const uintptr_t pc_;
  Registers registers_;
  Registers initial_;
  Registers states_[kMaxStates];
  int state_count_ = 0;
};

FrameRow ToRow(const Registers& registers) {
  FrameRow row;
  if (registers.is_outermost) {
    row.kind = FrameRow::kOutermost;
    return row;
  }
  if (registers.return_address_is_unknown ||
      registers.frame_pointer_is_unknown) {
    return row;
  }
  if (registers.cfa_kind == Registers::kExpression) {
    row.kind = FrameRow::kBehindFramePointer;
  } else if (registers.cfa_kind == Registers::kRegister &&
             registers.cfa_register == kStackPointerRegister) {
    row.kind = FrameRow::kStackPointer;
  } else if (registers.cfa_kind == Registers::kRegister &&
             registers.cfa_register == kFramePointerRegister) {
    row.kind = FrameRow::kFramePointer;
  } else {
    return row;
  }
  row.cfa_offset_bytes = static_cast<int32_t>(registers.cfa_offset);
  if (registers.frame_pointer_is_saved) {
    row.frame_pointer_offset_bytes =
        static_cast<int32_t>(registers.frame_pointer_offset);
  }
  return row;
}

// Returns the function's entry that the header's table has for `pc`: the last
// one that begins at or below it, or null.
const uint8_t* FindEntry(const uint8_t* header, uintptr_t pc) {
  Cursor cursor(header, header + 64);
  const uint8_t version = cursor.Read<uint8_t>();
  const uint8_t frame_encoding = cursor.Read<uint8_t>();
  const uint8_t count_encoding = cursor.Read<uint8_t>();
  const uint8_t table_encoding = cursor.Read<uint8_t>();
  if (version != 1 || table_encoding != kTableEncoding ||
      count_encoding == kOmitted) {
    return nullptr;
  }
  cursor.ReadEncoded(frame_encoding);
  const uint64_t count = cursor.ReadEncoded(count_encoding);
  struct Entry {
    int32_t begin;
    int32_t description;
  };
  const auto* const table = reinterpret_cast<const Entry*>(cursor.at());
  const intptr_t wanted =
      static_cast<intptr_t>(pc - reinterpret_cast<uintptr_t>(header));
  uint64_t first = 0;
  uint64_t behind = count;
  while (first < behind) {
    const uint64_t middle = first + (behind - first) / 2;
    if (table[middle].begin <= wanted) {
      first = middle + 1;
    } else {
      behind = middle;
    }
  }
  return first == 0 ? nullptr : header + table[first - 1].description;
}

}  // namespace

FrameRow FindFrameRowIn(const uint8_t* eh_frame_header, uintptr_t pc) {
  const uint8_t* const entry = FindEntry(eh_frame_header, pc);
  if (entry == nullptr) return {};
  Cursor cursor = OpenEntry(entry);
  const uint8_t* const id = cursor.at();
  const uint32_t distance = cursor.Read<uint32_t>();
  if (!cursor.ok() || distance == 0) return {};
  const CommonInformation common = ReadCommonInformation(id - distance);
  if (!common.ok) return {};
  const uintptr_t begin = cursor.ReadEncoded(common.pointer_encoding);
  // The size has the encoding's form, but is not relative.
  const uintptr_t size = cursor.ReadEncoded(common.pointer_encoding & 0x0f);
  if (pc < begin || pc - begin >= size) return {};
  if (common.is_signal_frame) return {FrameRow::kSignal, 0, 0};
  if (common.has_augmentation) cursor.Skip(cursor.ReadUleb128());
  Interpreter interpreter(common, begin, pc);
  if (!cursor.ok() || !interpreter.RunCommon() || !interpreter.Run(cursor)) {
    return {};
  }
  return ToRow(interpreter.registers());
}

FrameRow FindFrameRow(uintptr_t pc, bool is_return_address) {
  const uintptr_t looked_up = is_return_address ? pc - 1 : pc;
  dl_find_object object;
  if (_dl_find_object(reinterpret_cast<void*>(looked_up), &object) != 0 ||
      object.dlfo_eh_frame == nullptr) {
    return {};
  }
  return FindFrameRowIn(static_cast<const uint8_t*>(object.dlfo_eh_frame),
                        looked_up);
}

}  // namespace footprint::profiling_internal

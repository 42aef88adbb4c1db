#include "footprint/base/text/wrap_text.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"

namespace footprint {
namespace {

// Every line has at least this room, whatever width is asked for, since a
// narrower text cannot be read.
constexpr size_t kLeastRoom = 8;

bool BeginsCodePoint(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

bool IsDigit(char byte) {
  return absl::ascii_isdigit(static_cast<unsigned char>(byte));
}

bool IsOfANumber(char byte) {
  return IsDigit(byte) || byte == ',' || byte == '.';
}

// Returns the offsets at which code points begin, and the end of the text.
std::vector<size_t> CodePointOffsets(absl::string_view text) {
  std::vector<size_t> offsets;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == 0 || BeginsCodePoint(text[i])) offsets.push_back(i);
  }
  offsets.push_back(text.size());
  return offsets;
}

// Returns how many bytes of a word that is wider than `room` fit into it, with
// the cut where the word reads best.
size_t BytesThatFit(absl::string_view word, size_t room) {
  const std::vector<size_t> offsets = CodePointOffsets(word);
  const size_t most = std::min(room, offsets.size() - 2);
  size_t best = 0;
  // The best cut is after a mark in the second half, but not within a number.
  for (size_t i = most; i > 0 && best == 0; --i) {
    const char before = word[offsets[i] - 1];
    const bool parts_a_number =
        IsOfANumber(before) && IsDigit(word[offsets[i]]);
    const bool is_mark =
        !absl::ascii_isalnum(static_cast<unsigned char>(before)) &&
        absl::ascii_isprint(static_cast<unsigned char>(before));
    if (is_mark && !parts_a_number && 2 * i >= most) best = offsets[i];
  }
  // The next best cut is anywhere outside a number.
  for (size_t i = most; i > 0 && best == 0; --i) {
    const bool parts_a_number =
        IsOfANumber(word[offsets[i] - 1]) && IsOfANumber(word[offsets[i]]);
    if (!parts_a_number) best = offsets[i];
  }
  return best > 0 ? best : offsets[most];
}

class Wrapping {
 public:
  Wrapping(size_t width, size_t indent)
      : width_(std::max(width, indent + kLeastRoom)), indent_(indent) {}

  // Adds `gap` blanks and then the word, on this line or the next.
  void Add(size_t gap, absl::string_view word) {
    const size_t word_width = DisplayWidth(word);
    if (has_word_ && column_ + gap + word_width > width_) {
      BeginLine();
    } else {
      // The gap is limited, so that a word still fits.
      if (!has_word_) gap = std::min(gap, width_ - kLeastRoom);
      Put(std::string(gap, ' '));
    }
    while (column_ + DisplayWidth(word) > width_) {
      const size_t bytes = BytesThatFit(word, width_ - column_);
      Put(word.substr(0, bytes));
      word.remove_prefix(bytes);
      BeginLine();
    }
    Put(word);
    has_word_ = true;
  }

  std::string Take() { return std::move(text_); }

 private:
  void BeginLine() {
    absl::StrAppend(&text_, "\n", std::string(indent_, ' '));
    column_ = indent_;
    has_word_ = false;
  }

  void Put(absl::string_view part) {
    text_.append(part.data(), part.size());
    column_ += DisplayWidth(part);
  }

  const size_t width_;
  const size_t indent_;
  std::string text_;
  size_t column_ = 0;
  bool has_word_ = false;
};

}  // namespace

size_t DisplayWidth(absl::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), BeginsCodePoint));
}

std::string WrapText(absl::string_view text, size_t width, size_t indent) {
  Wrapping wrapping(width, indent);
  while (!text.empty()) {
    const size_t word_begin =
        std::min(text.find_first_not_of(' '), text.size());
    const size_t word_end = std::min(text.find(' ', word_begin), text.size());
    if (word_begin == text.size()) break;
    wrapping.Add(word_begin, text.substr(word_begin, word_end - word_begin));
    text.remove_prefix(word_end);
  }
  return wrapping.Take();
}

absl::optional<std::string> ShortenMiddle(absl::string_view text,
                                          size_t width) {
  constexpr absl::string_view kGap = "...";
  constexpr size_t kMostForWords = 10;
  const std::vector<size_t> offsets = CodePointOffsets(text);
  const size_t count = offsets.size() - 1;
  if (count <= width) return std::string(text);
  // Fewer than two code points at each end would say nothing.
  if (width < kGap.size() + 4) return absl::nullopt;
  const size_t least_gone = count + kGap.size() - width;
  const size_t middle = (count - least_gone) / 2;
  const auto is_mark = [&](size_t point) {
    const char byte = text[offsets[point]];
    return byte == '/' || byte == ':' || byte == ' ';
  };
  size_t best_cost = std::numeric_limits<size_t>::max();
  std::string best;
  // A cut between whole words may cost a few more characters.
  for (size_t gone = least_gone; gone <= least_gone + kMostForWords; ++gone) {
    for (size_t begin = 2; begin + gone + 2 <= count; ++begin) {
      const size_t end = begin + gone;
      const absl::string_view stretch =
          text.substr(offsets[begin], offsets[end] - offsets[begin]);
      if (std::any_of(stretch.begin(), stretch.end(), IsDigit)) continue;
      const size_t cost =
          (begin < middle ? middle - begin : begin - middle) +
          (gone - least_gone) + (is_mark(begin - 1) ? 0 : kMostForWords) +
          (is_mark(end) || is_mark(end - 1) ? 0 : kMostForWords);
      if (cost >= best_cost) continue;
      best_cost = cost;
      best = absl::StrCat(text.substr(0, offsets[begin]), kGap,
                          text.substr(offsets[end]));
    }
  }
  if (best.empty()) return absl::nullopt;
  return best;
}

namespace {

// A quotation in which a shell takes characters literally.
enum class Quoting { kNone, kSingle, kDouble, kAnsi };

// A word of a command, with the places where a line may end, and the texts that
// end a line there and begin the next.
struct ShellWord {
  std::string text;
  struct Seam {
    size_t offset;
    const char* end;
    const char* begin;
  };
  std::vector<Seam> seams;
};

class ShellWords {
 public:
  explicit ShellWords(absl::string_view command) : command_(command) {}

  std::vector<ShellWord> Split() {
    for (at_ = 0; at_ < command_.size(); ++at_) {
      if (quoting_ == Quoting::kNone && command_[at_] == ' ') {
        EndWord();
        continue;
      }
      AddSeam();
      Read();
    }
    EndWord();
    return std::move(words_);
  }

 private:
  void EndWord() {
    if (!word_.text.empty()) words_.push_back(std::move(word_));
    word_ = ShellWord();
  }

  void AddSeam() {
    if (word_.text.empty() || !BeginsCodePoint(command_[at_])) return;
    const size_t offset = word_.text.size();
    switch (quoting_) {
      case Quoting::kNone:
        // "$'" begins a quotation and must not be split.
        if (command_[at_ - 1] != '$') word_.seams.push_back({offset, "\\", ""});
        return;
      case Quoting::kSingle:
        word_.seams.push_back({offset, "'\\", "'"});
        return;
      case Quoting::kDouble:
        word_.seams.push_back({offset, "\\", ""});
        return;
      case Quoting::kAnsi:
        word_.seams.push_back({offset, "'\\", "$'"});
        return;
    }
  }

  void Take(size_t count) {
    absl::StrAppend(&word_.text, command_.substr(at_, count));
    at_ += std::min(count, command_.size() - at_) - 1;
  }

  // Reads a character, or a whole escape.
  void Read() {
    const char c = command_[at_];
    const bool is_escape = c == '\\' && quoting_ != Quoting::kSingle;
    if (is_escape) {
      const bool is_octal = quoting_ == Quoting::kAnsi &&
                            at_ + 1 < command_.size() &&
                            IsDigit(command_[at_ + 1]);
      Take(is_octal ? 4 : 2);
      return;
    }
    if (quoting_ == Quoting::kNone) {
      const bool is_ansi = c == '\'' && at_ > 0 && command_[at_ - 1] == '$';
      quoting_ = is_ansi     ? Quoting::kAnsi
                 : c == '\'' ? Quoting::kSingle
                 : c == '"'  ? Quoting::kDouble
                             : Quoting::kNone;
    } else if (c == (quoting_ == Quoting::kDouble ? '"' : '\'')) {
      quoting_ = Quoting::kNone;
    }
    Take(1);
  }

  const absl::string_view command_;
  size_t at_ = 0;
  Quoting quoting_ = Quoting::kNone;
  ShellWord word_;
  std::vector<ShellWord> words_;
};

}  // namespace

std::string WrapCommand(absl::string_view command, size_t width, size_t indent,
                        size_t first_column) {
  width = std::max(width, indent + kLeastRoom);
  // This leaves room for a blank and a backslash, or for a quote and a
  // backslash.
  const size_t room = width - 2;
  std::string text;
  size_t column = first_column;
  for (const ShellWord& word : ShellWords(command).Split()) {
    // Begins the word on this line if it fits, else on the next one.
    const bool is_first = text.empty();
    const size_t word_width = DisplayWidth(word.text);
    if (!is_first && column + 1 + word_width > room) {
      absl::StrAppend(&text, " \\\n", std::string(indent, ' '));
      column = indent;
    } else if (!is_first) {
      text += ' ';
      ++column;
    }
    // Cuts a word that is longer than a line, each time at the last seam that
    // fits.
    size_t done = 0;
    const ShellWord::Seam* last = nullptr;
    size_t last_column = column;
    const auto width_to = [&word](size_t from, size_t to) {
      return DisplayWidth(absl::string_view(word.text).substr(from, to - from));
    };
    for (const ShellWord::Seam& seam : word.seams) {
      if (last_column + width_to(done, word.text.size()) <= room) break;
      if (last != nullptr && last_column + width_to(done, seam.offset) > room) {
        absl::StrAppend(&text, word.text.substr(done, last->offset - done),
                        last->end, "\n", last->begin);
        done = last->offset;
        // The line has no indent, since a blank at its start would end the
        // word.
        last_column = DisplayWidth(last->begin);
      }
      last = &seam;
    }
    if (last != nullptr && done < last->offset &&
        last_column + width_to(done, word.text.size()) > room) {
      absl::StrAppend(&text, word.text.substr(done, last->offset - done),
                      last->end, "\n", last->begin);
      done = last->offset;
      last_column = DisplayWidth(last->begin);
    }
    absl::StrAppend(&text, absl::string_view(word.text).substr(done));
    column = last_column + width_to(done, word.text.size());
  }
  return text;
}

}  // namespace footprint

// How well a declaration fits the words of `tbemc doc --search`, as a newcomer from another framework says them. A word fits as
// a part of the name, as the beginning of a word of the documentation, as what the file is about ("pooling"), or as what other
// frameworks call the declaration; capitals, plurals, "-ing" and the two spellings of "-ise" make no difference. Words that are
// one name when put together fit that name ("batch norm", "fully connected").
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::driver {

/// What is searched of a declaration, or of a section of the words of the language.
struct Documented {
  std::vector<std::string> names;  ///< without their module; a section of the words of the language has several
  std::string sentence;            ///< the first of its documentation
  std::string documentation;       ///< all of it
  std::string topic;               ///< what its file is about, or ""
};

std::string inSmallLetters(std::string text);

class SearchWords {
public:
  /// `text`: words between blanks.
  explicit SearchWords(const std::string& text);
  /// The larger the better; 0 where a word is missing, but for words such as "layer" and "function" beside others: they say of
  /// what kind a thing is, and no declaration need call itself so.
  int fit(const Documented& declaration) const;
  /// The name, of several, that is the first of the words which one of them is; nothing where none is.
  std::optional<std::string_view> firstAmong(const std::vector<std::string_view>& names) const;

private:
  struct Word {
    std::string text;   ///< in small letters
    std::string stem;   ///< what its forms begin with, or the text
    std::string meant;  ///< our name of what others call so, or ""
    bool mayLack = false;
  };
  void putTogether(const std::vector<Word>& several);
  bool isWhole(const std::string& name) const;
  /// By one of its names; all in small letters.
  int fitName(const std::string& name, const Documented& declaration) const;

  std::vector<Word> words;
  /// All words, or all that are needed, as one name without underscores; and what others mean by it.
  std::vector<std::string> together;
};

}  // namespace tbem::driver

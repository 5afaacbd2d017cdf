// Locales from many threads: copied, made, set as the global one while others make streams, with facets of one's own that the
// last owner destroys.
#include <atomic>
#include <iomanip>
#include <locale>
#include <mutex>
#include <sstream>
#include <string>

#include "../include/threads.hpp"

std::atomic<int> made, destroyed;

struct Grouped : std::numpunct<char> {
    std::string name;
    mutable int asked = 0;
    explicit Grouped(int n) : name("a string too long to fit into the object itself, " + std::to_string(n)) { made++; }
    ~Grouped() override { destroyed += !name.empty(); }
    char do_thousands_sep() const override { return name.empty() ? '?' : '_'; }
    std::string do_grouping() const override { return "\3"; }
};

int main() {
    size_t wrong[4] = {};
    crowd(4, [&](int n) {
        for (int i = 0; i < 30; i++) {
            std::ostringstream out;
            out << 1234567 << ' ' << std::setprecision(3) << 2.5 << ' ' << std::boolalpha << true;
            size_t length = out.str().size();
            wrong[n] += length != 16 && length != 18;
            if (n == 0) {
                std::locale::global(std::locale(std::locale::classic(), new Grouped(i)));
            } else if (n == 1) {
                std::locale::global(std::locale::classic());
            }
            std::locale current, copy = current;
            out.imbue(copy);
            out.str("");
            out << 1234;
            wrong[n] += std::use_facet<std::ctype<char>>(current).toupper('a') != 'A';
            auto &punctuation = std::use_facet<std::numpunct<char>>(copy);
            wrong[n] += punctuation.decimal_point() != '.';
            std::istringstream in("12 3.5");
            in.imbue(std::locale::classic());
            int whole;
            double fraction;
            wrong[n] += !(in >> whole >> fraction) || whole != 12;
        }
    });
    std::locale::global(std::locale::classic());
    std::printf("%zu %d\n", wrong[0] + wrong[1] + wrong[2] + wrong[3], made - destroyed);
}

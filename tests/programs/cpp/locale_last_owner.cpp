// Nobody joins and nothing else orders: a locale's last owner destroys its facets, after all others have used them.
#include <locale>
#include <sstream>
#include <string>

#include "../include/threads.hpp"

struct Grouped : std::numpunct<char> {
    mutable int used[3] = {};
    int *total;
    explicit Grouped(int *total) : total(total) {}
    ~Grouped() override {
        for (int n : used) {
            *total += n;
        }
    }
};

int main() {
    int total = 0;
    for (int way = 0; way < 3; way++) {
        std::locale all(std::locale::classic(), new Grouped(&total));
        const Grouped &facet = static_cast<const Grouped &>(std::use_facet<std::numpunct<char>>(all));
        std::thread threads[3];
        int first = way * 4 + 1;
        for (int n = 0; n < 3; n++) {
            threads[n] = std::thread([&facet, own = all, n, way, first]() mutable {
                facet.used[n] = n + 1;
                turn(first + n + 1);
                switch (way) {
                case 0:
                    own = std::locale::classic();
                    break;
                case 1: {
                    std::ostringstream out;
                    out.imbue(own);
                    own = std::locale::classic();
                    out << 1;
                    break;
                }
                default:
                    own = own.combine<std::ctype<char>>(std::locale::classic());
                    own = std::locale();
                }
                next_turn();
            });
        }
        all = std::locale::classic();
        next_turn();
        for (auto &thread : threads) {
            thread.join();
        }
    }
    std::printf("%d\n", total);
}

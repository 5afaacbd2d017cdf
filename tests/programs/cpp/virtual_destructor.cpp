// Objects made in one thread, asked for their types in all, destroyed in another.
#include <memory>
#include <typeindex>
#include <typeinfo>
#include <unordered_map>

#include "../include/threads.hpp"

struct Shape {
    virtual ~Shape() { destroyed++; }
    virtual int corners() const = 0;
    static inline int destroyed = 0;
};
struct Named {
    virtual ~Named() = default;
    virtual const char *name() const { return "named"; }
};
struct Square : Shape, Named {
    int corners() const override { return 4; }
    const char *name() const override { return "square"; }
};
struct Circle : virtual Shape {
    int corners() const override { return 0; }
};

int main() {
    std::vector<std::unique_ptr<Shape>> shapes;
    std::thread([&] {
        for (int i = 0; i < 20; i++) {
            if (i % 2) {
                shapes.push_back(std::make_unique<Square>());
            } else {
                shapes.push_back(std::make_unique<Circle>());
            }
        }
    }).join();
    const std::unordered_map<std::type_index, int> weights = {{typeid(Square), 10}, {typeid(Circle), 1}};
    int sums[4] = {};
    crowd(4, [&](int n) {
        for (auto &shape : shapes) {
            const Shape &it = *shape;
            sums[n] += it.corners() + weights.at(typeid(it));
            if (auto *named = dynamic_cast<Named *>(shape.get())) {
                sums[n] += named->name()[0] == 's';
            }
            try {
                sums[n] += dynamic_cast<const Square &>(it).corners();
            } catch (const std::bad_cast &) {
                sums[n]++;
            }
        }
    });
    std::thread([&] { shapes.clear(); }).join();
    std::printf("%d %d %d\n", sums[0], sums[3], Shape::destroyed);
}

// A frame that begins with 'u' is urgent: it goes to the fastest member. Any other frame goes to
// the member with the least outstanding.

typedef unsigned int u32;
typedef unsigned long long u64;

struct member {
    u32 is_up;
    u32 zero;
    u64 outstanding; // bytes
    u64 latency;     // nanoseconds, 0 while unknown
};

#define EXPORT(name) __attribute__((export_name(name)))
#define MOST_MEMBERS 256

static struct member list[MOST_MEMBERS];
static char first;

EXPORT("ratewire_abi") int ratewire_abi(void) { return 1; }

// One byte of each frame is enough.
EXPORT("wants") int wants(void) { return 1; }
EXPORT("frame") char *frame(int capacity) { return &first; }

// An address outside the memory tells the switch that there are too many members.
EXPORT("members") struct member *members(int count) {
    return count <= MOST_MEMBERS ? list : (struct member *)-1;
}

EXPORT("route") int route(u64 number, int length, int count) {
    int is_urgent = length > 0 && first == 'u';
    int best = -1; // the default module decides
    u64 least = 0;
    for (int i = 0; i < count; i++) {
        u64 cost = is_urgent ? list[i].latency : list[i].outstanding;
        if (list[i].is_up && (best < 0 || cost < least)) {
            best = i;
            least = cost;
        }
    }
    return best;
}

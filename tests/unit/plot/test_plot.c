/* SPDX-License-Identifier: MIT */
/* plot: text escaped for markup, round numbers of axes, and small charts. */
#include <math.h>

#include "plot/plot.h"
#include "tests/support/check.h"

static void check_escaped(const char *string, const char *expected)
{
    struct shmt_text text = {0};

    shmt_plot_add_escaped(&text, string);
    CHECK_TEXT(shmt_text_string(&text), expected);
    CHECK(!text.failed);
    shmt_text_free(&text);
}

static void markup_is_escaped(void)
{
    check_escaped("", "");
    check_escaped("plain \xc2\xb5s", "plain \xc2\xb5s");
    check_escaped("</script><b a=\"1\" c='2'>&",
                  "&lt;/script&gt;&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;"
                  "&amp;");
    check_escaped("<!-- ]]>", "&lt;!-- ]]&gt;");
}

static void what_does_not_print_is_shown(void)
{
    check_escaped("a\033[31mb\r\n\t\x7f", "a\\x1b[31mb\\x0d\\n\\t\\x7f");
    check_escaped("\xff<\xc3", "\\xff&lt;\\xc3");
    /* A right-to-left override, an isolate, a blank without width, a tag. */
    check_escaped("a\xe2\x80\xae" "b", "a\\u{202e}b");
    check_escaped("\xe2\x81\xa6\xe2\x80\x8b\xc2\xad\xf3\xa0\x80\xa1",
                  "\\u{2066}\\u{200b}\\u{ad}\\u{e0021}");
}

static void check_cut(const char *string, size_t letters,
                      const char *expected)
{
    struct shmt_text text = {0};

    shmt_plot_add_cut(&text, string, letters);
    CHECK_TEXT(shmt_text_string(&text), expected);
    shmt_text_free(&text);
}

static void labels_are_cut_at_characters(void)
{
    check_cut("static", 6, "static");
    check_cut("static", 4, "sta\xe2\x80\xa6");
    check_cut("\xc2\xb5\xc2\xb5\xc2\xb5", 2, "\xc2\xb5\xe2\x80\xa6");
    check_cut("<<<", 2, "&lt;\xe2\x80\xa6");
}

static void check_number(double number, const char *expected)
{
    struct shmt_text text = {0};

    shmt_plot_add_number(&text, number);
    CHECK_TEXT(shmt_text_string(&text), expected);
    shmt_text_free(&text);
}

static void numbers_have_four_figures(void)
{
    check_number(0, "0");
    check_number(12.3456, "12.35");
    check_number(999.9, "999.9");
    check_number(999.96, "1,000");
    check_number(1234567.4, "1,234,567");
    check_number(-2500, "-2,500");
    check_number((double)NAN, "-");
}

static void check_ticks(double low, double high, const char *expected)
{
    const struct shmt_plot_scale scale = shmt_plot_scale_of(low, high);
    double ticks[SHMT_PLOT_TICKS];
    const size_t count = shmt_plot_ticks(&scale, ticks);
    struct shmt_text text = {0};

    for (size_t k = 0; k < count; k++)
        shmt_text_addf(&text, "%s%g", k == 0 ? "" : " ", ticks[k]);
    CHECK_TEXT(shmt_text_string(&text), expected);
    shmt_text_free(&text);
}

static void ticks_are_round(void)
{
    check_ticks(0, 10, "0 2 4 6 8 10");
    check_ticks(100, 450, "100 200 300 400");
    check_ticks(5, 5, "4.8 4.9 5 5.1 5.2");
    check_ticks(1, 100, "1 2 5 10 20 50 100");
    check_ticks(1, 1e5, "1 10 100 1000 10000 100000");
    check_ticks(1e-300, 1e300, "1e-206 1e-103 1 1e+103 1e+206");
}

static void whole_numbers_have_whole_ticks(void)
{
    struct shmt_plot_scale scale = shmt_plot_scale_exact(99.5, 100.5);
    double ticks[SHMT_PLOT_TICKS];

    CHECK(shmt_plot_ticks(&scale, ticks) == 5);
    scale.whole = true;
    CHECK(shmt_plot_ticks(&scale, ticks) == 1);
    CHECK(ticks[0] == 100);
}

/* What the axis shows of these numbers, parted by blanks. */
static void check_axis_of(struct shmt_plot_scale scale, const char *expected)
{
    struct shmt_plot_frame frame = {
        .title = "t", .description = "d", .width = 360, .height = 240,
        .left = 58, .x = scale, .y = shmt_plot_scale_exact(0, 1)
    };
    struct shmt_text text = {0}, shown = {0};

    shmt_plot_begin(&text, &frame);
    text.length = 0;
    shmt_plot_add_axis_x(&text, &frame);
    for (const char *at = shmt_text_string(&text);
         (at = strstr(at, "<text ")) != NULL;) {
        at = strchr(at, '>') + 1;
        shmt_text_addf(&shown, "%s%.*s", shown.length == 0 ? "" : " ",
                       (int)strcspn(at, "<"), at);
    }
    CHECK_TEXT(shmt_text_string(&shown), expected);
    shmt_text_free(&text);
    shmt_text_free(&shown);
}

static void check_axis(double low, double high, const char *expected)
{
    check_axis_of(shmt_plot_scale_exact(low, high), expected);
}

static void numbers_of_an_axis_stand_apart(void)
{
    /* Or one would read 1.46 seven times. */
    check_axis_of(shmt_plot_scale_of(1.46001, 1.46013),
                  "1.454 1.456 1.458 1.46 1.462 1.464 1.466");
    check_axis(0, 70, "0 10 20 30 40 50 60 70");
    check_axis(0, 70000, "0 20,000 40,000 60,000");
    check_axis(1500, 70500, "20,000 40,000 60,000");
    check_axis(-25000, 45000, "-20,000 0 20,000 40,000");
    /* The last one would run over the edge. */
    check_axis(0, 4e9, "0 2,000,000,000");
}

/* Where the leftmost text begins that ends at its place, of so many pixels a
 * letter. */
static double leftmost(const char *svg, double letter)
{
    double least = (double)INFINITY;

    for (const char *at = svg; (at = strstr(at, "<text ")) != NULL; at++) {
        const char *const end = strchr(at, '>'), *const x = strstr(at, "x=\"");
        const char *const anchor = strstr(at, "\"end\"");

        if (anchor != NULL && anchor < end)
            least = fmin(least, atof(x + 3) -
                                    letter * (double)strcspn(end + 1, "<"));
    }
    return least;
}

static void what_stands_on_the_left_is_not_cut(void)
{
    static const double cells[] = {1, 2, 3, 4};
    static const char *const values[] = {"static", "dynamic"};
    struct shmt_plot_heat heat = {
        2, 2, values, values, "THREADS_PER_BLOCK", "SHARED_LAYOUT", cells
    };
    struct shmt_plot_frame frame = {
        .title = "t", .description = "d", .y_label = "time", .width = 360,
        .height = 240, .left = 52, .x = shmt_plot_scale_exact(0, 1),
        .y = shmt_plot_scale_of(2e6, 9e6)
    };
    struct shmt_text text = {0};

    /* A kernel of seconds: seven digits. */
    shmt_plot_begin(&text, &frame);
    shmt_plot_add_axis_y(&text, &frame);
    CHECK_HAS(shmt_text_string(&text), ">4,000,000</text>");
    CHECK(leftmost(shmt_text_string(&text), 6.4) >= 0);
    shmt_text_clear(&text);
    frame.y_label = NULL;
    frame.left = 84;
    shmt_plot_begin(&text, &frame);
    shmt_plot_add_heat(&text, &frame, &heat);
    CHECK_HAS(shmt_text_string(&text), ">THREADS_PER_BLOCK \xe2\x86\x93<");
    CHECK_HAS(shmt_text_string(&text), ">SHARED_LAYOUT \xe2\x86\x92<");
    CHECK(leftmost(shmt_text_string(&text), 6.4) >= 0);
    shmt_text_free(&text);
}

static void columns_have_whole_labels(void)
{
    static const double cells[12] = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4};
    static const char *const row[] = {"1"};
    static const char *const columns[] = {
        "256", "512", "768", "1024", "1280", "1536",
        "1792", "2048", "2304", "2560", "2816", "3072"};
    const struct shmt_plot_heat heat = {
        1, 12, row, columns, "ROWS", "COLUMNS", cells
    };
    struct shmt_plot_frame frame = {
        .title = "t", .description = "d", .width = 360, .height = 80,
        .left = 84
    };
    struct shmt_text text = {0};

    shmt_plot_begin(&text, &frame);
    shmt_plot_add_heat(&text, &frame, &heat);
    CHECK_HAS(shmt_text_string(&text), ">768</text>");
    CHECK_HAS(shmt_text_string(&text), ">2816</text>");
    CHECK(strstr(shmt_text_string(&text), ">3072</text>") == NULL);
    CHECK(strstr(shmt_text_string(&text), "\xe2\x80\xa6") == NULL);
    shmt_text_free(&text);
}

static void labels_have_room(void)
{
    static const double number = 2;
    const struct shmt_plot_dots row = {
        "the_name_of_a_kernel_that_is_long", 1, &number, 2
    };
    struct shmt_plot_frame frame = {
        .title = "THE_NAME_OF_A_PARAMETER_THAT_IS_SO_LONG", .description = "d",
        .width = 360, .height = 240, .left = 112, .alone = true,
        .x = shmt_plot_scale_exact(0, 4), .y = shmt_plot_scale_exact(0, 1)
    };
    struct shmt_text text = {0};

    shmt_plot_begin(&text, &frame);
    CHECK_HAS(shmt_text_string(&text), "THE_NAME_OF_A_PARAMETER_THAT_IS_S"
                                       "\xe2\x80\xa6<");
    shmt_plot_add_dots(&text, &frame, &row, 1);
    CHECK_HAS(shmt_text_string(&text), "</title>the_name_of_a\xe2\x80\xa6<");
    shmt_text_free(&text);
}

static void places_stay_on_the_chart(void)
{
    struct shmt_plot_scale scale = shmt_plot_scale_of(1, 1000);

    scale.from = 50;
    scale.to = 350;
    CHECK(scale.logarithmic);
    CHECK(shmt_plot_place(&scale, 0) == 50);
    CHECK(shmt_plot_place(&scale, 1e9) == 350);
    CHECK(fabs(shmt_plot_place(&scale, sqrt(1000)) - 200) < 1e-6);
}

static void a_cloud_draws_a_place_once(void)
{
    struct shmt_plot_point points[1000] = {{0}};
    struct shmt_plot_frame frame = {
        .title = "a <b>", .description = "d", .width = 360, .height = 240,
        .left = 50, .x = shmt_plot_scale_exact(0, 1),
        .y = shmt_plot_scale_exact(0, 1)
    };
    struct shmt_text text = {0};

    points[7].note = "say \"&\"";
    shmt_plot_begin(&text, &frame);
    shmt_plot_add_points(&text, &frame, points, 1000);
    shmt_plot_end(&text, &frame);
    CHECK_HAS(shmt_text_string(&text), "<title>a &lt;b&gt;</title>");
    CHECK_HAS(shmt_text_string(&text), "<desc>d</desc>");
    CHECK_HAS(shmt_text_string(&text), "<title>say &quot;&amp;&quot;</title>");
    CHECK(text.length < 600);
    shmt_text_free(&text);
}

int main(void)
{
    CHECK_RUN(markup_is_escaped);
    CHECK_RUN(what_does_not_print_is_shown);
    CHECK_RUN(labels_are_cut_at_characters);
    CHECK_RUN(numbers_have_four_figures);
    CHECK_RUN(ticks_are_round);
    CHECK_RUN(whole_numbers_have_whole_ticks);
    CHECK_RUN(numbers_of_an_axis_stand_apart);
    CHECK_RUN(what_stands_on_the_left_is_not_cut);
    CHECK_RUN(columns_have_whole_labels);
    CHECK_RUN(labels_have_room);
    CHECK_RUN(places_stay_on_the_chart);
    CHECK_RUN(a_cloud_draws_a_place_once);
    return CHECK_END();
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <adwaita.h>
#include <glib/gi18n.h>
#include <string.h>

#include "clients/common/words.h"
#include "clients/desktop/placement/model-row.h"
#include "clients/desktop/placement/number-row.h"
#include "clients/desktop/placement/order-form.h"
#include "clients/desktop/widgets/widget-words.h"

#define FIELD_KEY "ald-field" /* set on a row: the field of the options that it chooses */

enum { FROM_FILE, FROM_NUMBERS };
/* In the order of the rows: those of a model given in numbers, that of engines without a model, and those of
 * the options. */
enum { BYTES, LAYERS, ELEMENTS, KV_BYTES, MESSAGE_BYTES, CONTEXT, PARALLEL, N_NUMBERS };

struct _AldOrderForm {
        GtkBox parent;
        GtkWidget *source, *model, *status, *options, *kv_type;
        GtkWidget *numbers[N_NUMBERS];
        GPtrArray *choices;             /* rows of the options that are enumerations; children */
        const AldPlanEngine *kv_engine; /* the engine whose types kv_type lists */
        uint64_t context;               /* the last proposal */
        char *problem;
        bool ready; /* all rows exist */
};

G_DEFINE_FINAL_TYPE(AldOrderForm, ald_order_form, GTK_TYPE_BOX)

enum { CHANGED, SUBMITTED, N_SIGNALS };

static guint signals[N_SIGNALS];

/* The rows of numbers. Those with a field have its limits, as in the call. */
static const struct {
        const char *title, *field;
        AldNumberKind kind;
        bool optional;
} numbers[N_NUMBERS] = {
        [BYTES] = { N_("Size of All Layers, Such as 40G"), NULL, ALD_NUMBER_BYTES, false },
        [LAYERS] = { N_("Layers"), "Layers", ALD_NUMBER_COUNT, false },
        [ELEMENTS] = { N_("Elements Between Layers"), "ActivationElements", ALD_NUMBER_COUNT, false },
        [KV_BYTES] = { N_("Size of Keys and Values"), NULL, ALD_NUMBER_BYTES, true },
        [MESSAGE_BYTES] = { N_("Size of a Message, Such as 64M"), NULL, ALD_NUMBER_BYTES, false },
        [CONTEXT] = { N_("Context, in Tokens"), "Context", ALD_NUMBER_COUNT, true },
        [PARALLEL] = { N_("Requests at Once"), "Parallel", ALD_NUMBER_COUNT, true },
};

static bool is_engine(const AldField *field)
{
        return field->offset == offsetof(AldPlanOptions, engine);
}

/* Returns a word of an option by its number, which starts from 0; NULL beyond the last one. */
static const char *word_at(const AldField *field, size_t i)
{
        return is_engine(field) ? ald_plan_engine_name_at(i) : field->words[i];
}

static const char *chosen_word(GtkWidget *row)
{
        const AldField *field = g_object_get_data(G_OBJECT(row), FIELD_KEY);

        return word_at(field, adw_combo_row_get_selected(ADW_COMBO_ROW(row)));
}

/* Returns the type by name, since the list has only the types that the engine keeps. */
static AldKvType chosen_kv_type(AldOrderForm *form)
{
        GtkStringObject *chosen = adw_combo_row_get_selected_item(ADW_COMBO_ROW(form->kv_type));
        AldKvType type = ALD_N_KV_TYPES;

        if (chosen)
                ald_kv_type_from_name(gtk_string_object_get_string(chosen), &type);
        return type;
}

/* Leaves out an option if its first word is chosen, which means the same as its absence: an older service may
 * not know the field. */
AldPlanOptions ald_order_form_options(AldOrderForm *form)
{
        AldPlanOptions options = ALD_PLAN_OPTIONS_INIT;

        for (guint i = 0; i < form->choices->len; i++) {
                GtkWidget *row = form->choices->pdata[i];
                const AldField *field = g_object_get_data(G_OBJECT(row), FIELD_KEY);

                if (field->required || adw_combo_row_get_selected(ADW_COMBO_ROW(row)) > 0)
                        *(const char **) ((char *) &options + field->offset) = chosen_word(row);
        }
        return options;
}

static const AldPlanEngine *chosen_engine(AldOrderForm *form)
{
        return ald_plan_engine_find(ald_order_form_options(form).engine);
}

static bool takes_model(AldOrderForm *form)
{
        return !ald_plan_engine_is_collective(chosen_engine(form));
}

static bool is_from_file(AldOrderForm *form)
{
        return takes_model(form) && adw_combo_row_get_selected(ADW_COMBO_ROW(form->source)) == FROM_FILE;
}

static bool is_needed(AldOrderForm *form, guint number)
{
        if (!takes_model(form))
                return number == MESSAGE_BYTES;
        return number > MESSAGE_BYTES || (number < MESSAGE_BYTES && !is_from_file(form));
}

static uint64_t entered_number(AldOrderForm *form, guint number)
{
        uint64_t value;

        return is_needed(form, number) && ald_number_row_get(form->numbers[number], &value)
                       ? value
                       : ALD_ABSENT_UINT64;
}

AldPlanOrder ald_order_form_order(AldOrderForm *form)
{
        AldPlanOrder order = ALD_PLAN_ORDER_INIT;

        order.engine = chosen_engine(form);
        order.message_bytes = entered_number(form, MESSAGE_BYTES);
        order.llm = is_from_file(form) ? ald_model_row_model(ALD_MODEL_ROW(form->model)) : NULL;
        order.bytes = entered_number(form, BYTES);
        order.layers = entered_number(form, LAYERS);
        order.elements = entered_number(form, ELEMENTS);
        order.kv_bytes = entered_number(form, KV_BYTES);
        order.context = entered_number(form, CONTEXT);
        order.parallel = entered_number(form, PARALLEL);
        if (is_from_file(form))
                order.type_k = order.type_v = chosen_kv_type(form);
        return order;
}

const char *ald_order_form_path(AldOrderForm *form)
{
        return is_from_file(form) ? ald_model_row_path(ALD_MODEL_ROW(form->model)) : NULL;
}

static const char *number_problem(AldOrderForm *form)
{
        uint64_t value;

        for (guint i = 0; i < N_NUMBERS; i++) {
                if (!is_needed(form, i) || ald_number_row_get(form->numbers[i], &value))
                        continue;
                g_free(form->problem);
                form->problem = g_strdup_printf(_("“%s” is missing or out of range"), _(numbers[i].title));
                return form->problem;
        }
        return NULL;
}

const char *ald_order_form_problem(AldOrderForm *form)
{
        const char *problem = is_from_file(form) ? ald_model_row_problem(ALD_MODEL_ROW(form->model)) : NULL;

        return problem ?: number_problem(form);
}

/* Shows below the model what was read, or what is missing. */
static void show_status(AldOrderForm *form)
{
        const AldPlanOrder order = ald_order_form_order(form);
        bool failed = is_from_file(form) && ald_model_row_has_failed(ALD_MODEL_ROW(form->model));
        const char *problem = ald_order_form_problem(form);
        g_autofree char *title = problem ? NULL : ald_plan_order_title(&order);
        g_autofree char *note = problem ? NULL : ald_plan_order_note(&order);
        g_autofree char *both = note ? g_strdup_printf("%s\n%s", title, note) : NULL;

        ald_label_set(form->status, problem ?: both ?: title);
        ald_widget_show_tone(form->status, failed ? ALD_TONE_ERROR : ALD_TONE_FAINT);
}

static void append_part(GString *text, const char *part)
{
        g_string_append_printf(text, "%s%s", text->len > 0 ? " · " : "", part);
}

/* Sums up the options in the subtitle, so that they can be read without expanding them. */
static void show_options(AldOrderForm *form)
{
        g_autoptr(GString) text = g_string_new(NULL);
        uint64_t context = entered_number(form, CONTEXT), parallel = entered_number(form, PARALLEL);

        for (guint i = 0; i < form->choices->len; i++)
                append_part(text, ald_word(chosen_word(form->choices->pdata[i])));
        if (context != ALD_ABSENT_UINT64) {
                g_autofree char *part = g_strdup_printf(_("context %lu"), (unsigned long) context);

                append_part(text, part);
        }
        if (parallel != ALD_ABSENT_UINT64) {
                g_autofree char *part = g_strdup_printf(
                        ngettext("%lu request", "%lu requests", parallel), (unsigned long) parallel);

                append_part(text, part);
        }
        if (is_from_file(form))
                append_part(text, ald_kv_type_name(chosen_kv_type(form)));
        adw_expander_row_set_subtitle(ADW_EXPANDER_ROW(form->options), text->str);
}

static void on_changed(AldOrderForm *form);

/* Lists the types that the engine keeps. The chosen type stays if it is one of them. */
static void list_kv_types(AldOrderForm *form)
{
        const AldPlanEngine *engine = chosen_engine(form);
        g_autoptr(GtkStringList) names = gtk_string_list_new(NULL);
        AldKvType chosen = chosen_kv_type(form);
        guint selected = 0;

        if (!takes_model(form) || engine == form->kv_engine)
                return;
        if (chosen == ALD_N_KV_TYPES || !ald_plan_engine_keeps(engine, chosen))
                chosen = ald_plan_engine_kv_type(engine);
        for (AldKvType type = 0; type < ALD_N_KV_TYPES; type++) {
                if (!ald_plan_engine_keeps(engine, type))
                        continue;
                if (type == chosen)
                        selected = g_list_model_get_n_items(G_LIST_MODEL(names));
                gtk_string_list_append(names, ald_kv_type_name(type));
        }
        form->kv_engine = engine;
        g_signal_handlers_block_by_func(form->kv_type, on_changed, form);
        adw_combo_row_set_model(ADW_COMBO_ROW(form->kv_type), G_LIST_MODEL(names));
        adw_combo_row_set_selected(ADW_COMBO_ROW(form->kv_type), selected);
        g_signal_handlers_unblock_by_func(form->kv_type, on_changed, form);
}

static void on_changed(AldOrderForm *form)
{
        if (!form->ready)
                return;
        list_kv_types(form);
        for (guint i = 0; i < N_NUMBERS; i++)
                gtk_widget_set_visible(form->numbers[i], is_needed(form, i));
        gtk_widget_set_visible(form->source, takes_model(form));
        gtk_widget_set_visible(form->model, is_from_file(form));
        gtk_widget_set_visible(form->kv_type, is_from_file(form));
        show_status(form);
        show_options(form);
        g_signal_emit(form, signals[CHANGED], 0);
}

/* Proposes the context of the model, which may have been trained for less, unless the user has entered
 * another one. */
static void on_model_changed(AldOrderForm *form)
{
        const AldLlm *llm = ald_model_row_model(ALD_MODEL_ROW(form->model));

        if (llm && entered_number(form, CONTEXT) == form->context) {
                form->context = ald_plan_order_context(llm);
                ald_number_row_set(form->numbers[CONTEXT], form->context);
        }
        on_changed(form);
}

static void on_submitted(AldOrderForm *form)
{
        g_signal_emit(form, signals[SUBMITTED], 0);
}

static GtkWidget *make_list(const char *name)
{
        GtkWidget *list = gtk_list_box_new();

        gtk_list_box_set_selection_mode(GTK_LIST_BOX(list), GTK_SELECTION_NONE);
        gtk_widget_add_css_class(list, "boxed-list");
        ald_widget_describe(list, name, NULL);
        return list;
}

static GtkWidget *make_number(AldOrderForm *form, guint i)
{
        const AldField *field = numbers[i].field
                                        ? ald_struct_find(&ald_plan_workload_struct, numbers[i].field)
                                        : NULL;
        uint64_t minimum = field ? (uint64_t) field->minimum : 1,
                 maximum = field ? (uint64_t) field->maximum : (uint64_t) ALD_INTEGER_MAX;
        GtkWidget *row = ald_number_row_new(
                _(numbers[i].title), numbers[i].kind, minimum, maximum, numbers[i].optional);

        form->numbers[i] = row;
        g_signal_connect_swapped(row, "changed", G_CALLBACK(on_changed), form);
        g_signal_connect_swapped(row, "entry-activated", G_CALLBACK(on_submitted), form);
        return row;
}

static GtkWidget *make_combo(AldOrderForm *form, const char *title, GtkStringList *list)
{
        GtkWidget *row = adw_combo_row_new();

        adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), title);
        adw_combo_row_set_model(ADW_COMBO_ROW(row), G_LIST_MODEL(list));
        g_signal_connect_swapped(row, "notify::selected", G_CALLBACK(on_changed), form);
        return row;
}

static const char *field_title(const AldField *field)
{
        static const struct {
                const char *field, *title;
        } titles[] = { { "Engine", N_("Engine") }, { "Goal", N_("Goal") } };

        for (size_t i = 0; i < G_N_ELEMENTS(titles); i++)
                if (strcmp(titles[i].field, field->name) == 0)
                        return _(titles[i].title);
        return field->name;
}

/* Adds a row for each option that is an enumeration, so that new options and words need no change here. */
static void add_choices(AldOrderForm *form)
{
        for (size_t i = 0; i < ald_plan_options_struct.n_fields; i++) {
                const AldField *field = &ald_plan_options_struct.fields[i];
                g_autoptr(GtkStringList) words = NULL;
                GtkWidget *row;

                if (!field->words && !is_engine(field))
                        continue;
                words = gtk_string_list_new(NULL);
                for (size_t word = 0; word_at(field, word); word++)
                        gtk_string_list_append(words, ald_word(word_at(field, word)));
                row = make_combo(form, field_title(field), words);
                g_object_set_data(G_OBJECT(row), FIELD_KEY, (gpointer) field);
                adw_expander_row_add_row(ADW_EXPANDER_ROW(form->options), row);
                g_ptr_array_add(form->choices, row);
        }
}

static GtkWidget *make_models(AldOrderForm *form)
{
        GtkWidget *list = make_list(_("Model"));
        g_autoptr(GtkStringList) sources = gtk_string_list_new(NULL);

        gtk_string_list_append(sources, _("File or folder"));
        gtk_string_list_append(sources, _("Numbers"));
        form->source = make_combo(form, _("Model"), sources);
        form->model = ald_model_row_new();
        g_signal_connect_swapped(form->model, "model-changed", G_CALLBACK(on_model_changed), form);
        g_signal_connect_swapped(form->model, "entry-activated", G_CALLBACK(on_submitted), form);
        gtk_list_box_append(GTK_LIST_BOX(list), form->source);
        gtk_list_box_append(GTK_LIST_BOX(list), form->model);
        for (guint i = 0; i <= MESSAGE_BYTES; i++)
                gtk_list_box_append(GTK_LIST_BOX(list), make_number(form, i));
        return list;
}

static GtkWidget *make_options(AldOrderForm *form)
{
        GtkWidget *list = make_list(_("Options"));
        AdwExpanderRow *row = ADW_EXPANDER_ROW(adw_expander_row_new());
        g_autoptr(GtkStringList) kv_types = gtk_string_list_new(NULL);

        form->options = GTK_WIDGET(row);
        adw_preferences_row_set_title(ADW_PREFERENCES_ROW(row), _("Options"));
        ald_widget_describe(GTK_WIDGET(row), _("Options"), NULL);
        add_choices(form);
        adw_expander_row_add_row(row, make_number(form, CONTEXT));
        adw_expander_row_add_row(row, make_number(form, PARALLEL));
        form->kv_type = make_combo(form, _("Keys and Values"), kv_types);
        adw_expander_row_add_row(row, form->kv_type);
        gtk_list_box_append(GTK_LIST_BOX(list), form->options);
        return list;
}

static void ald_order_form_dispose(GObject *object)
{
        ALD_ORDER_FORM(object)->ready = false;
        G_OBJECT_CLASS(ald_order_form_parent_class)->dispose(object);
}

static void ald_order_form_finalize(GObject *object)
{
        g_ptr_array_unref(ALD_ORDER_FORM(object)->choices);
        g_free(ALD_ORDER_FORM(object)->problem);
        G_OBJECT_CLASS(ald_order_form_parent_class)->finalize(object);
}

static guint signal_new(AldOrderFormClass *class, const char *name)
{
        return g_signal_new(
                name, G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void ald_order_form_class_init(AldOrderFormClass *class)
{
        G_OBJECT_CLASS(class)->dispose = ald_order_form_dispose;
        G_OBJECT_CLASS(class)->finalize = ald_order_form_finalize;
        signals[CHANGED] = signal_new(class, "changed");
        signals[SUBMITTED] = signal_new(class, "submitted");
}

static void ald_order_form_init(AldOrderForm *form)
{
        GtkWidget *models;

        gtk_orientable_set_orientation(GTK_ORIENTABLE(form), GTK_ORIENTATION_VERTICAL);
        gtk_box_set_spacing(GTK_BOX(form), 6);
        form->choices = g_ptr_array_new();
        models = make_models(form);
        form->status = ald_wrapping_label_new("caption");
        gtk_widget_set_margin_start(form->status, 12);
        gtk_widget_set_margin_bottom(form->status, 6);
        gtk_box_append(GTK_BOX(form), models);
        gtk_box_append(GTK_BOX(form), form->status);
        gtk_box_append(GTK_BOX(form), make_options(form));
}

GtkWidget *ald_order_form_new(void)
{
        AldOrderForm *form = g_object_new(ALD_TYPE_ORDER_FORM, NULL);

        form->context = ald_plan_order_context(NULL);
        ald_number_row_set(form->numbers[PARALLEL], 1);
        ald_number_row_set(form->numbers[CONTEXT], form->context);
        form->ready = true;
        on_changed(form);
        return GTK_WIDGET(form);
}

void ald_order_form_grab_focus(AldOrderForm *form)
{
        gtk_widget_grab_focus(is_from_file(form) ? form->model : form->numbers[BYTES]);
}

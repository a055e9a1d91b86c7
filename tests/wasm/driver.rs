//! The driver: everything injected from JavaScript hangs, throws, answers with junk or late, or calls back.
//!
//! Scripts run inside `async (engine) => { ... }` with `check(condition, message)`; what they throw fails the test.

use foreword::wasm::WasmEngine;
use js_sys::{Function, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen]
extern "C" {
    fn eval(code: &str) -> JsValue;
}

const NOTES: &str = "[
    { id: 'round', statement: 'We decided that billing rounds refunds down to the cent.' },
    { id: 'retry', statement: 'Refunds in billing are retried three times.' },
    { id: 'lunch', statement: 'The canteen serves soup on Mondays.' },
]";

const PRELUDE: &str = "
    const check = (holds, ...what) => { if (!holds) throw new Error(what.map((w) => JSON.stringify(w)).join(' ')); };
    const later = (ms, value) => new Promise((resolve) => setTimeout(resolve, ms, value));
    const never = () => new Promise(() => {});
    const ids = (result) => result.evidence.map((entry) => entry.id);
    const parts = (result) => result.degraded.map((entry) => entry.part);
    const prompt = 'What did we decide about rounding refunds in billing?';
";

async fn run(config: &str, script: &str) {
    let engine = WasmEngine::new(None, eval(&format!("({config})")), None).unwrap();
    engine.remember(eval(NOTES)).unwrap();
    let script = eval(&format!("(async (engine) => {{ {PRELUDE} {script} }})"));
    let script: Function = script.dyn_into().unwrap();
    let promise: Promise = script.call1(&JsValue::UNDEFINED, &engine.into()).unwrap().dyn_into().unwrap();
    if let Err(thrown) = JsFuture::from(promise).await {
        let message = Reflect::get(&thrown, &"message".into()).ok().and_then(|message| message.as_string());
        panic!("{}", message.unwrap_or_else(|| format!("{thrown:?}")));
    }
}

/// Functions that do their work badly, each in its own way.
const TROUBLES: &str = "
    const troubles = {
        hangs: never,
        throws: () => { throw new Error('no'); },
        rejects: () => Promise.reject(new Error('no')),
        'throws a symbol': () => { throw Symbol('no'); },
        'rejects with nothing': () => Promise.reject(),
        'answers late': () => later(300, []),
        'answers with nothing': () => undefined,
        'answers with a string': () => 'junk',
        'answers with a number': async () => NaN,
        'answers with a word of the driver': () => 'foreword:deadline',
        'has a throwing getter': () => ({ get ids() { throw new Error('no'); }, get results() { throw new Error('no'); } }),
        'has a throwing then': () => ({ get then() { throw new Error('no'); } }),
    };
";

#[wasm_bindgen_test]
async fn a_bad_semantic_backend_leaves_the_lexical_result_standing() {
    let script = "
        const alone = await engine.recall({ prompt });
        check(ids(alone)[0] === 'round', ids(alone));
        for (const [name, trouble] of Object.entries(troubles)) {
            let signal;
            engine.setSemantic((query, limit, options) => { signal = options.signal; return trouble(); });
            const result = await engine.recall({ prompt });
            check(ids(result).join() === ids(alone).join(), name, ids(result));
            check(parts(result).join() === 'semantic', name, result.degraded);
            check(signal.aborted === ['hangs', 'answers late'].includes(name), name);
        }
    ";
    run("{ semanticTimeoutMs: 40 }", &format!("{TROUBLES} {script}")).await;
}

#[wasm_bindgen_test]
async fn a_good_semantic_backend_is_fused_and_junk_among_its_ids_is_passed_over() {
    run(
        "{}",
        "
        let asked;
        engine.setSemantic((query, limit, { scope }) => {
            asked = [query, limit, scope];
            return [null, {}, Symbol('x'), 'gone', { id: 'lunch' }, 7, 'round', 'x'.repeat(9999)];
        });
        const result = await engine.recall({ prompt, scope: { user: 'ana' } });
        check(asked[0] === prompt && asked[1] === 10 && asked[2].user === 'ana', asked);
        check(ids(result).includes('lunch') && !result.degraded.length, ids(result), result.degraded);
        ",
    )
    .await;
}

#[wasm_bindgen_test]
async fn a_bad_reranker_fails_a_search_and_leaves_a_recall_its_order() {
    let script = "
        const alone = await engine.recall({ prompt });
        for (const [name, trouble] of Object.entries(troubles)) {
            engine.setReranker(trouble);
            const result = await engine.recall({ prompt });
            check(ids(result).join() === ids(alone).join() && parts(result).join() === 'reranker', name, result.degraded);
            const code = await engine.search({ prompt }).then(() => 'none', (error) => error.code);
            check(code === 'RERANK_FAILED', name, code);
        }
        engine.setReranker((query, candidates) => candidates.map(({ id }) => id).reverse());
        const result = await engine.recall({ prompt });
        check(ids(result).join() === ids(alone).reverse().join(), ids(result));
    ";
    run("{ rerankTimeoutMs: 40 }", &format!("{TROUBLES} {script}")).await;
}

#[wasm_bindgen_test]
async fn a_bad_planner_leaves_the_decision() {
    let script = "
        const alone = await engine.recall({ prompt });
        for (const [name, trouble] of [...Object.entries(troubles), ['is empty', () => ({})],
            ['is odd', () => ({ shouldRetrieve: 'yes' })], ['is wild', () => ({ shouldRetrieve: true, confidence: 9 })]]) {
            engine.setPlanner(trouble);
            const result = await engine.recall({ prompt });
            check(JSON.stringify(result.plan) === JSON.stringify(alone.plan), name, result.plan);
            check(parts(result).join() === 'planner', name, result.degraded);
        }
        let asked;
        engine.setPlanner((question) => { asked = question; return { shouldRetrieve: false, reason: 'small talk' }; });
        const result = await engine.recall({ prompt });
        check(asked.prompt === prompt && asked.topics.length === 0 && asked.providers.length === 0, asked);
        check(result.plan.stage === 2 && !result.plan.shouldRetrieve && !result.evidence.length, result.plan);
    ";
    let config = "{ plan: { planner: 'promptOnly', ambiguityBand: 1, plannerTimeoutMs: 40, plannerCalls: 100 } }";
    run(config, &format!("{TROUBLES} {script}")).await;
}

#[wasm_bindgen_test]
async fn a_bad_provider_costs_only_its_own_results() {
    let script = "
        engine.addTopic({ title: 'Billing refunds' });
        let trouble;
        engine.addProvider({ id: 'bad', topics: '*', timeoutMs: 40 }, () => trouble());
        engine.addProvider({ id: 'good', topics: '*' }, () => [{ id: 'g', text: 'Billing refunds are in the wiki.' }]);
        for (const name in troubles) {
            trouble = troubles[name];
            const result = await engine.recall({ prompt });
            check(ids(result).includes('g') && ids(result).includes('round'), name, ids(result));
            check(parts(result).join() === 'provider', name, result.degraded);
        }
    ";
    run("{}", &format!("{TROUBLES} {script}")).await;
}

#[wasm_bindgen_test]
async fn a_provider_that_calls_back_is_answered_and_what_it_teaches_counts() {
    run(
        "{}",
        "
        engine.addTopic({ title: 'Billing refunds' });
        let inner;
        engine.addProvider({ id: 'deep', topics: '*' }, async () => {
            engine.supersede('round', { id: 'up', statement: 'We decided that billing rounds refunds up.' });
            inner = await engine.search({ prompt });
            engine.remember([{ id: 'note', statement: 'Rounding refunds in billing was discussed again.' }]);
            engine.compact();
            return [];
        });
        const result = await engine.recall({ prompt });
        check(ids(inner).includes('up') && !ids(inner).includes('round'), ids(inner));
        check(ids(result).includes('up') && ids(result).includes('note') && !ids(result).includes('round'), ids(result));
        ",
    )
    .await;
}

#[wasm_bindgen_test]
async fn an_engine_may_be_freed_while_it_is_awaited() {
    run(
        "{}",
        "
        engine.setSemantic(() => { engine.free(); return later(5, ['lunch']); });
        check(ids(await engine.recall({ prompt })).includes('lunch'));
        ",
    )
    .await;
}

#[wasm_bindgen_test]
async fn the_deadline_and_the_signal_end_everything_and_nothing_more_is_begun() {
    run(
        "{ semanticTimeoutMs: 5000, deadlineMs: 40 }",
        "
        let reranked = 0;
        engine.setReranker(() => { reranked += 1; return []; });
        engine.setSemantic(never);
        const late = await engine.recall({ prompt });
        check(ids(late).includes('round') && parts(late).includes('deadline'), late.degraded);
        const controller = new AbortController();
        setTimeout(() => controller.abort(), 5);
        const off = await engine.recall({ prompt, deadlineMs: 5000 }, controller.signal);
        check(ids(off).includes('round') && parts(off).includes('deadline'), off.degraded);
        check(reranked === 0, reranked);
        ",
    )
    .await;
}

#[wasm_bindgen_test]
async fn the_whole_state_is_told_after_changes_in_order_and_failure_harms_nothing() {
    run(
        "{ reconcileTimeoutMs: 40 }",
        "
        const told = [];
        let act = () => {};
        engine.setSemantic(() => [], (active, revision, { signal }) => {
            told.push([revision, active.map(({ id }) => id).sort().join()]);
            return act(signal);
        });
        engine.forget('lunch');
        engine.supersede('round', { id: 'up', statement: 'Billing rounds refunds up.' });
        check(told.length === 0, 'nothing is called within a change');
        check(await engine.reconcile() === undefined);
        check(told.length === 1 && told[0][1] === 'retry,up', told);
        for (const trouble of [() => { throw new Error('down'); }, () => Promise.reject(new Error('down')), never]) {
            act = trouble;
            engine.remember([{ id: 'x', statement: `Another thing ${told.length}.` }]);
            check(typeof await engine.reconcile() === 'string', 'the fault is said');
            const result = await engine.recall({ prompt });
            check(parts(result).includes('reconcile') && ids(result).length > 0, result.degraded);
        }
        act = () => {};
        engine.compact();
        check(await engine.reconcile() === undefined);
        check(!parts(await engine.recall({ prompt })).length);
        const revisions = told.map(([revision]) => revision);
        check(revisions.every((revision, at) => at === 0 || revision >= revisions[at - 1]), revisions);
        ",
    )
    .await;
}

#[wasm_bindgen_test]
async fn what_was_prepared_is_served_in_the_next_turn() {
    run(
        "{}",
        "
        let calls = 0;
        engine.setSemantic(() => { calls += 1; return ['retry']; });
        const prepared = await engine.prepare(1, { prompt });
        check(prepared.prepared.firstTurn === 2 && calls === 1, prepared.prepared);
        const served = await engine.recall({ prompt, turn: 2 });
        check(served.prepared.served && calls === 1 && served.block.text === prepared.block.text);
        engine.remember([{ id: 'x', statement: 'Something else.' }]);
        check(!(await engine.recall({ prompt, turn: 3 })).prepared && calls === 2, calls);
        check(await engine.prepare(0.5, { prompt }).then(() => '', (error) => error.code) === 'INVALID_REQUEST');
        ",
    )
    .await;
}

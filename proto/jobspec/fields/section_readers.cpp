// Generated from job_spec.proto by `ninja renew_run_config`; not to be edited.

#include "proto/jobspec/fields/section_readers.h"

// clang-format off
namespace trainyard {
namespace {

void Read(const v1::ResourcesSpec& spec, ResourcesConfig& config) {
  if (spec.has_nodes()) config.nodes = spec.nodes();
  if (spec.has_slots_per_node()) config.slots_per_node = spec.slots_per_node();
  if (spec.has_device()) config.device = static_cast<DeviceKind>(spec.device());
  if (spec.has_cpus_per_rank()) config.cpus_per_rank = spec.cpus_per_rank();
  if (spec.has_memory_per_rank()) config.memory_per_rank = spec.memory_per_rank();
}

void Read(const v1::LayoutSpec& spec, LayoutConfig& config) {
  if (spec.has_tp()) config.tp = spec.tp();
  if (spec.has_cp()) config.cp = spec.cp();
  if (spec.has_ep()) config.ep = spec.ep();
  if (spec.has_dp()) config.dp = spec.dp();
  if (spec.has_pp()) config.pp = spec.pp();
  if (spec.has_vpp()) config.vpp = spec.vpp();
  if (spec.has_zero()) config.zero = spec.zero();
  if (spec.has_micro_batch()) config.micro_batch = spec.micro_batch();
  if (spec.has_recompute()) config.recompute = static_cast<Recompute>(spec.recompute());
  if (spec.has_recompute_num_layers()) config.recompute_num_layers = spec.recompute_num_layers();
  if (spec.has_sequence_parallel()) config.sequence_parallel = spec.sequence_parallel();
  if (spec.has_cp_comm_type()) {
    config.cp_comm_type = static_cast<ContextExchange>(spec.cp_comm_type());
  }
  if (spec.has_zero_bubble()) config.zero_bubble = spec.zero_bubble();
  if (spec.has_zero_size()) config.zero_size = spec.zero_size();
  if (spec.has_etp()) config.etp = spec.etp();
  if (spec.has_moe_token_dispatcher_type()) {
    config.moe_token_dispatcher_type =
        static_cast<TokenDispatcher>(spec.moe_token_dispatcher_type());
  }
}

void Read(const v1::ModelSpec& spec, ModelConfig& config) {
  if (spec.has_num_layers()) config.num_layers = spec.num_layers();
  if (spec.has_hidden_size()) config.hidden_size = spec.hidden_size();
  if (spec.has_ffn_hidden_size()) config.ffn_hidden_size = spec.ffn_hidden_size();
  if (spec.has_num_attention_heads()) config.num_attention_heads = spec.num_attention_heads();
  if (spec.has_num_query_groups()) config.num_query_groups = spec.num_query_groups();
  if (spec.has_vocab_size()) config.vocab_size = spec.vocab_size();
  if (spec.has_rotary_base()) config.rotary_base = spec.rotary_base();
  if (spec.has_norm_epsilon()) config.norm_epsilon = spec.norm_epsilon();
  if (spec.has_untie_embeddings_and_output_weights()) {
    config.untie_embeddings_and_output_weights = spec.untie_embeddings_and_output_weights();
  }
  if (spec.has_init_method_std()) config.init_method_std = spec.init_method_std();
  if (spec.has_kv_channels()) config.kv_channels = spec.kv_channels();
  if (spec.has_qk_layernorm()) config.qk_layernorm = spec.qk_layernorm();
  if (spec.has_rope_scaling_factor()) config.rope_scaling_factor = spec.rope_scaling_factor();
  if (spec.has_rope_low_freq_factor()) config.rope_low_freq_factor = spec.rope_low_freq_factor();
  if (spec.has_rope_high_freq_factor()) config.rope_high_freq_factor = spec.rope_high_freq_factor();
  if (spec.has_rope_original_length()) config.rope_original_length = spec.rope_original_length();
  if (spec.has_normalization()) {
    config.normalization = static_cast<Normalization>(spec.normalization());
  }
  if (spec.has_norm_weights()) config.norm_weights = spec.norm_weights();
  if (spec.has_add_bias_linear()) config.add_bias_linear = spec.add_bias_linear();
  if (spec.has_add_qkv_bias()) config.add_qkv_bias = spec.add_qkv_bias();
  if (spec.has_activation()) config.activation = static_cast<Activation>(spec.activation());
  if (spec.has_position_embedding_type()) {
    config.position_embedding_type = static_cast<PositionEmbedding>(spec.position_embedding_type());
  }
  if (spec.has_max_position_embeddings()) {
    config.max_position_embeddings = spec.max_position_embeddings();
  }
  if (spec.has_rotary_percent()) config.rotary_percent = spec.rotary_percent();
  if (spec.has_parallel_residual()) config.parallel_residual = spec.parallel_residual();
  if (spec.has_output_layer_init_method_std()) {
    config.output_layer_init_method_std = spec.output_layer_init_method_std();
  }
  if (spec.has_rope_scaling_type()) {
    config.rope_scaling_type = static_cast<RopeScalingType>(spec.rope_scaling_type());
  }
  if (spec.has_rope_beta_fast()) config.rope_beta_fast = spec.rope_beta_fast();
  if (spec.has_rope_beta_slow()) config.rope_beta_slow = spec.rope_beta_slow();
  if (spec.has_rope_mscale()) config.rope_mscale = spec.rope_mscale();
  if (spec.has_rope_mscale_all_dim()) config.rope_mscale_all_dim = spec.rope_mscale_all_dim();
  if (spec.has_window_size()) config.window_size = spec.window_size();
  if (spec.has_num_experts()) config.num_experts = spec.num_experts();
  if (spec.has_moe_router_topk()) config.moe_router_topk = spec.moe_router_topk();
  if (spec.has_moe_ffn_hidden_size()) config.moe_ffn_hidden_size = spec.moe_ffn_hidden_size();
  if (spec.has_moe_shared_expert_intermediate_size()) {
    config.moe_shared_expert_intermediate_size = spec.moe_shared_expert_intermediate_size();
  }
  if (spec.has_moe_dense_layers()) config.moe_dense_layers = spec.moe_dense_layers();
  if (spec.has_moe_router_score_function()) {
    config.moe_router_score_function =
        static_cast<RouterScoreFunction>(spec.moe_router_score_function());
  }
  if (spec.has_moe_router_load_balancing_type()) {
    config.moe_router_load_balancing_type =
        static_cast<RouterLoadBalancing>(spec.moe_router_load_balancing_type());
  }
  if (spec.has_moe_aux_loss_coeff()) config.moe_aux_loss_coeff = spec.moe_aux_loss_coeff();
  if (spec.has_moe_norm_topk_prob()) config.moe_norm_topk_prob = spec.moe_norm_topk_prob();
  if (spec.has_moe_router_topk_scaling_factor()) {
    config.moe_router_topk_scaling_factor = spec.moe_router_topk_scaling_factor();
  }
  if (spec.has_moe_router_num_groups()) config.moe_router_num_groups = spec.moe_router_num_groups();
  if (spec.has_moe_router_group_topk()) config.moe_router_group_topk = spec.moe_router_group_topk();
  if (spec.has_moe_router_enable_expert_bias()) {
    config.moe_router_enable_expert_bias = spec.moe_router_enable_expert_bias();
  }
  if (spec.has_moe_router_bias_update_rate()) {
    config.moe_router_bias_update_rate = spec.moe_router_bias_update_rate();
  }
  if (spec.has_moe_z_loss_coeff()) config.moe_z_loss_coeff = spec.moe_z_loss_coeff();
  if (spec.has_moe_expert_capacity_factor()) {
    config.moe_expert_capacity_factor = spec.moe_expert_capacity_factor();
  }
  if (spec.has_moe_token_drop_policy()) {
    config.moe_token_drop_policy = static_cast<TokenDropPolicy>(spec.moe_token_drop_policy());
  }
  if (spec.has_mtp_num_layers()) config.mtp_num_layers = spec.mtp_num_layers();
  if (spec.has_mtp_loss_scaling_factor()) {
    config.mtp_loss_scaling_factor = spec.mtp_loss_scaling_factor();
  }
  if (spec.has_moe_router_force_load_balancing()) {
    config.moe_router_force_load_balancing = spec.moe_router_force_load_balancing();
  }
  if (spec.has_multi_latent_attention()) {
    config.multi_latent_attention = spec.multi_latent_attention();
  }
  if (spec.has_q_lora_rank()) config.q_lora_rank = spec.q_lora_rank();
  if (spec.has_kv_lora_rank()) config.kv_lora_rank = spec.kv_lora_rank();
  if (spec.has_qk_head_dim()) config.qk_head_dim = spec.qk_head_dim();
  if (spec.has_qk_pos_emb_head_dim()) config.qk_pos_emb_head_dim = spec.qk_pos_emb_head_dim();
  if (spec.has_v_head_dim()) config.v_head_dim = spec.v_head_dim();
}

void Read(const v1::DataSpec& spec, DataConfig& config) {
  if (spec.has_path()) config.path = spec.path();
  if (spec.has_seed()) config.seed = spec.seed();
  if (spec.has_format()) config.format = static_cast<DataFormat>(spec.format());
  if (!spec.blend().empty()) config.blend.assign(spec.blend().begin(), spec.blend().end());
  if (!spec.blend_stages().empty()) {
    config.blend_stages.assign(spec.blend_stages().begin(), spec.blend_stages().end());
  }
  if (spec.has_reset_attention_mask()) config.reset_attention_mask = spec.reset_attention_mask();
  if (spec.has_reset_position_ids()) config.reset_position_ids = spec.reset_position_ids();
  if (spec.has_eod_mask_loss()) config.eod_mask_loss = spec.eod_mask_loss();
  if (spec.has_eod_token()) config.eod_token = spec.eod_token();
}

void Read(const v1::TrainSpec& spec, TrainConfig& config) {
  if (spec.has_seq_length()) config.seq_length = spec.seq_length();
  if (spec.has_global_batch()) config.global_batch = spec.global_batch();
  if (spec.has_steps()) config.steps = spec.steps();
  if (spec.has_tokens()) config.tokens = spec.tokens();
  if (spec.has_samples()) config.samples = spec.samples();
  if (spec.has_rampup_batch_start()) config.rampup_batch_start = spec.rampup_batch_start();
  if (spec.has_rampup_batch_increment()) {
    config.rampup_batch_increment = spec.rampup_batch_increment();
  }
  if (spec.has_rampup_batch_samples()) config.rampup_batch_samples = spec.rampup_batch_samples();
  if (spec.has_precision()) config.precision = static_cast<Precision>(spec.precision());
  if (spec.has_initial_loss_scale()) config.initial_loss_scale = spec.initial_loss_scale();
  if (spec.has_min_loss_scale()) config.min_loss_scale = spec.min_loss_scale();
  if (spec.has_loss_scale_window()) config.loss_scale_window = spec.loss_scale_window();
  if (spec.has_hysteresis()) config.hysteresis = spec.hysteresis();
  if (spec.has_seed()) config.seed = spec.seed();
  if (spec.has_log_every_steps()) config.log_every_steps = spec.log_every_steps();
  if (spec.has_threads()) config.threads = spec.threads();
  if (spec.has_distributed_timeout_s()) config.distributed_timeout_s = spec.distributed_timeout_s();
  if (spec.has_deterministic()) config.deterministic = spec.deterministic();
  if (spec.has_gradient_log_interval()) config.gradient_log_interval = spec.gradient_log_interval();
  if (spec.has_gradient_noise_scale()) config.gradient_noise_scale = spec.gradient_noise_scale();
  if (spec.has_attention_backend()) {
    config.attention_backend = static_cast<AttentionBackend>(spec.attention_backend());
  }
  if (spec.has_fp8()) config.fp8 = static_cast<Fp8Recipe>(spec.fp8());
  if (spec.has_fp8_amax_history_len()) config.fp8_amax_history_len = spec.fp8_amax_history_len();
  if (spec.has_fp8_amax_compute_algo()) {
    config.fp8_amax_compute_algo = static_cast<Fp8AmaxAlgorithm>(spec.fp8_amax_compute_algo());
  }
}

void Read(const v1::OptimizerSpec& spec, OptimizerConfig& config) {
  if (spec.has_lr()) config.lr = spec.lr();
  if (spec.has_min_lr()) config.min_lr = spec.min_lr();
  if (spec.has_weight_decay()) config.weight_decay = spec.weight_decay();
  if (spec.has_adam_beta1()) config.adam_beta1 = spec.adam_beta1();
  if (spec.has_adam_beta2()) config.adam_beta2 = spec.adam_beta2();
  if (spec.has_adam_eps()) config.adam_eps = spec.adam_eps();
  if (spec.has_clip_grad()) config.clip_grad = spec.clip_grad();
  if (spec.has_exp_avg_dtype()) config.exp_avg_dtype = static_cast<Precision>(spec.exp_avg_dtype());
  if (spec.has_exp_avg_sq_dtype()) {
    config.exp_avg_sq_dtype = static_cast<Precision>(spec.exp_avg_sq_dtype());
  }
  if (spec.has_adaptive_clip()) config.adaptive_clip = spec.adaptive_clip();
}

void Read(const v1::ScheduleSpec& spec, ScheduleConfig& config) {
  if (spec.has_kind()) config.kind = static_cast<ScheduleKind>(spec.kind());
  if (spec.has_warmup_steps()) config.warmup_steps = spec.warmup_steps();
  if (spec.has_decay_steps()) config.decay_steps = spec.decay_steps();
  if (spec.has_wsd_decay_style()) {
    config.wsd_decay_style = static_cast<WsdDecayStyle>(spec.wsd_decay_style());
  }
  if (spec.has_warmup_samples()) config.warmup_samples = spec.warmup_samples();
  if (spec.has_warmup_tokens()) config.warmup_tokens = spec.warmup_tokens();
  if (spec.has_warmup_fraction()) config.warmup_fraction = spec.warmup_fraction();
  if (spec.has_decay_samples()) config.decay_samples = spec.decay_samples();
  if (spec.has_decay_tokens()) config.decay_tokens = spec.decay_tokens();
  if (spec.has_decay_fraction()) config.decay_fraction = spec.decay_fraction();
}

void Read(const v1::EvaluationSpec& spec, EvaluationConfig& config) {
  if (spec.has_every_steps()) config.every_steps = spec.every_steps();
  if (spec.has_samples()) config.samples = spec.samples();
  if (!spec.sets().empty()) config.sets.assign(spec.sets().begin(), spec.sets().end());
  if (spec.has_only()) config.only = spec.only();
}

void Read(const v1::CheckpointSpec& spec, CheckpointConfig& config) {
  if (spec.has_dir()) config.dir = spec.dir();
  if (spec.has_every_steps()) config.every_steps = spec.every_steps();
  if (spec.has_keep_last()) config.keep_last = spec.keep_last();
  if (spec.has_keep_every_steps()) config.keep_every_steps = spec.keep_every_steps();
  if (spec.has_keep_best()) config.keep_best = spec.keep_best();
  if (spec.has_best_metric()) config.best_metric = spec.best_metric();
  if (spec.has_always_save_checkpoint()) {
    config.always_save_checkpoint = spec.always_save_checkpoint();
  }
  if (spec.has_async()) config.async = spec.async();
  if (spec.has_resume_from()) config.resume_from = spec.resume_from();
}

}  // namespace

void ReadSections(const v1::JobSpec& spec, RunConfig& config) {
  Read(spec.resources(), config.resources);
  Read(spec.layout(), config.layout);
  Read(spec.model(), config.model);
  Read(spec.data(), config.data);
  Read(spec.train(), config.train);
  Read(spec.optimizer(), config.optimizer);
  Read(spec.schedule(), config.schedule);
  Read(spec.evaluation(), config.evaluation);
  Read(spec.checkpoint(), config.checkpoint);
}

}  // namespace trainyard
// clang-format on

package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"cordelia/mcp"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"
)

// form asks for one string field.
func form(message, field string) sdk.ElicitationParams {
	return sdk.ElicitationParams{Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{field: map[string]any{"type": "string"}},
		"required": []string{field},
	}}
}

func sample(text string, tokens int) sdk.CreateMessageParams {
	return sdk.CreateMessageParams{MaxTokens: tokens, Messages: []sdk.SamplingMessage{
		{Role: sdk.RoleUser, Content: sdk.NewTextContent(text)},
	}}
}

// seal and open protect the state a client carries back for us.
type sealer struct{ key [32]byte }

func newSealer() *sealer {
	s := &sealer{}
	_, _ = rand.Read(s.key[:]) // never fails
	return s
}

func (s *sealer) seal(state string) string {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write([]byte(state))
	return state + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (s *sealer) open(sealed string) (string, error) {
	state, _, _ := strings.Cut(sealed, ".")
	if !hmac.Equal([]byte(s.seal(state)), []byte(sealed)) {
		return "", mcp.Errorf(mcp.CodeInvalidParams, "requestState was changed")
	}
	return state, nil
}

// addInputTools adds the tools that ask back with input-required results.
func addInputTools(srv *sdkserver.MCPServer) {
	add := func(name, description string, h toolFunc) {
		srv.AddTool(sdk.NewTool("test_input_required_result_"+name, sdk.WithDescription(description)), h)
	}
	ask := sdkserver.NewInputRequestBuilder
	seal := newSealer()

	add("elicitation", "Asks for a name.", func(_ context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult,
		error) {
		if name, ok := field(req.Params.InputResponses, "user_name", "name"); ok {
			return sdk.NewToolResultText("Hello, " + name + "!"), nil
		}
		return ask("").Elicit("user_name", form("What is your name?", "name")).ToolResult(), nil
	})
	add("sampling", "Asks a model.", func(_ context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if answer := sdkserver.SamplingResponse(req.Params.InputResponses, "capital_question"); answer != nil {
			return sdk.NewToolResultText(text(answer.Content)), nil
		}
		return ask("").Sample("capital_question", sample("What is the capital of France?", 100)).ToolResult(), nil
	})
	add("list_roots", "Asks for the roots.", func(_ context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult,
		error) {
		if answer := sdkserver.RootsResponse(req.Params.InputResponses, "client_roots"); answer != nil {
			return sdk.NewToolResultText(fmt.Sprintf("Roots: %v", answer.Roots)), nil
		}
		return ask("").Roots("client_roots").ToolResult(), nil
	})
	confirm := func(_ context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if req.Params.RequestState != "" {
			if _, err := seal.open(req.Params.RequestState); err != nil {
				return nil, err
			}
			if sdkserver.ElicitationResponse(req.Params.InputResponses, "confirm") != nil {
				return sdk.NewToolResultText("state-ok"), nil
			}
		}
		return ask(seal.seal("confirming")).Elicit("confirm", sdk.ElicitationParams{
			Message: "Please confirm",
			RequestedSchema: map[string]any{
				"type": "object", "properties": map[string]any{"ok": map[string]any{"type": "boolean"}},
				"required": []string{"ok"},
			},
		}).ToolResult(), nil
	}
	add("request_state", "Carries state over a round trip.", confirm)
	add("tampered_state", "Refuses changed state.", confirm)
	add("multiple_inputs", "Asks three things at once.",
		func(_ context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			in := req.Params.InputResponses
			if sdkserver.ElicitationResponse(in, "user_name") != nil &&
				sdkserver.SamplingResponse(in, "greeting") != nil &&
				sdkserver.RootsResponse(in, "client_roots") != nil {
				return sdk.NewToolResultText("All three arrived."), nil
			}
			return ask(seal.seal("three")).Elicit("user_name", form("What is your name?", "name")).
				Sample("greeting", sample("Generate a greeting", 50)).Roots("client_roots").ToolResult(), nil
		})
	add("multi_round", "Asks twice.", func(_ context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		state := ""
		if req.Params.RequestState != "" {
			var err error
			if state, err = seal.open(req.Params.RequestState); err != nil {
				return nil, err
			}
		}
		in := req.Params.InputResponses
		if color, ok := field(in, "step2", "color"); ok && strings.HasPrefix(state, "two:") {
			return sdk.NewToolResultText(strings.TrimPrefix(state, "two:") + " likes " + color), nil
		}
		if name, ok := field(in, "step1", "name"); ok && state == "one" {
			return ask(seal.seal("two:"+name)).Elicit("step2",
				form("Step 2: What is your favorite color?", "color")).ToolResult(), nil
		}
		return ask(seal.seal("one")).Elicit("step1", form("Step 1: What is your name?", "name")).ToolResult(), nil
	})
	add("capabilities", "Asks only what the client can answer.",
		func(ctx context.Context, _ sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			declared := mcp.ClientCapabilities(ctx)
			b := ask("")
			if declared.Elicitation != nil {
				b.Elicit("user_name", form("What is your name?", "name"))
			}
			if declared.Sampling != nil {
				b.Sample("greeting", sample("Generate a greeting", 50))
			}
			return b.ToolResult(), nil
		})
	srv.AddTool(sdk.NewTool("test_streaming_elicitation",
		sdk.WithDescription("Reports progress, then asks for a name.")),
		func(ctx context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if _, err := progress(ctx, req); err != nil {
				return nil, err
			}
			return ask("").Elicit("user_name", form("What is your name?", "name")).ToolResult(), nil
		})
}

// field takes a string out of a form's answer.
func field(in sdk.InputResponses, id, name string) (string, bool) {
	answer := sdkserver.ElicitationResponse(in, id)
	if answer == nil {
		return "", false
	}
	values, _ := answer.Content.(map[string]any)
	s, ok := values[name].(string)
	return s, ok
}

// text is the text of sampled content.
func text(content any) string {
	raw, err := json.Marshal(content)
	if err != nil {
		return ""
	}
	var c struct{ Text string }
	_ = json.Unmarshal(raw, &c) // other kinds of content have no text
	return c.Text
}

// addClientTools adds the tools that send requests to a legacy client.
func addClientTools(srv *sdkserver.MCPServer) {
	elicit := func(params func(sdk.CallToolRequest) sdk.ElicitationParams, format string) toolFunc {
		return func(ctx context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			answer, err := srv.RequestElicitation(ctx, sdk.ElicitationRequest{Params: params(req)})
			if err != nil {
				return sdk.NewToolResultError(err.Error()), nil
			}
			content, err := json.Marshal(answer.Content)
			if err != nil {
				return nil, err
			}
			return sdk.NewToolResultText(fmt.Sprintf(format, answer.Action, content)), nil
		}
	}
	fixed := func(p sdk.ElicitationParams) func(sdk.CallToolRequest) sdk.ElicitationParams {
		return func(sdk.CallToolRequest) sdk.ElicitationParams { return p }
	}
	srv.AddTool(sdk.NewTool("test_sampling", sdk.WithDescription("Asks the client's model."),
		sdk.WithString("prompt", sdk.Required(), sdk.Description("The prompt"))),
		func(ctx context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			//lint:ignore SA1019 the suite for 2025-11-25 requires sampling
			answer, err := srv.RequestSampling(ctx,
				sdk.CreateMessageRequest{CreateMessageParams: sample(req.GetString("prompt", ""), 100)})
			if err != nil {
				return sdk.NewToolResultError(err.Error()), nil
			}
			return sdk.NewToolResultText("LLM response: " + text(answer.Content)), nil
		})
	srv.AddTool(sdk.NewTool("test_elicitation", sdk.WithDescription("Asks the user for a name and an address."),
		sdk.WithString("message", sdk.Required(), sdk.Description("What to ask"))),
		elicit(func(req sdk.CallToolRequest) sdk.ElicitationParams {
			return sdk.ElicitationParams{Message: req.GetString("message", ""), RequestedSchema: map[string]any{
				"type": "object", "required": []string{"username", "email"},
				"properties": map[string]any{
					"username": map[string]any{"type": "string", "description": "User's response"},
					"email":    map[string]any{"type": "string", "description": "User's email address"},
				},
			}}
		}, "User response: action=%s, content=%s"))
	srv.AddTool(sdk.NewTool("test_elicitation_sep1034_defaults",
		sdk.WithDescription("Asks with defaults of every primitive type.")),
		elicit(fixed(sdk.ElicitationParams{Message: "Please check the defaults", RequestedSchema: map[string]any{
			"type": "object", "required": []string{},
			"properties": map[string]any{
				"name":  map[string]any{"type": "string", "default": "John Doe"},
				"age":   map[string]any{"type": "integer", "default": 30},
				"score": map[string]any{"type": "number", "default": 95.5},
				"status": map[string]any{"type": "string", "enum": []string{"active", "inactive", "pending"},
					"default": "active"},
				"verified": map[string]any{"type": "boolean", "default": true},
			},
		}}), "Elicitation completed: action=%s, content=%s"))
	srv.AddTool(sdk.NewTool("test_elicitation_sep1330_enums", sdk.WithDescription("Asks with every kind of enum.")),
		elicit(fixed(sdk.ElicitationParams{Message: "Please choose", RequestedSchema: map[string]any{
			"type": "object", "required": []string{}, "properties": enums(),
		}}), "Elicitation completed: action=%s, content=%s"))
}

func enums() map[string]any {
	options := []string{"option1", "option2", "option3"}
	titled := func(noun string) []map[string]any {
		return []map[string]any{
			{"const": "value1", "title": "First " + noun}, {"const": "value2", "title": "Second " + noun},
			{"const": "value3", "title": "Third " + noun},
		}
	}
	return map[string]any{
		"untitledSingle": map[string]any{"type": "string", "enum": options},
		"titledSingle":   map[string]any{"type": "string", "oneOf": titled("Option")},
		"legacyEnum": map[string]any{
			"type": "string", "enum": []string{"opt1", "opt2", "opt3"},
			"enumNames": []string{"Option One", "Option Two", "Option Three"},
		},
		"untitledMulti": map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": options}},
		"titledMulti":   map[string]any{"type": "array", "items": map[string]any{"anyOf": titled("Choice")}},
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"time"

	"cordelia/mcp"

	sdk "github.com/mark3labs/mcp-go/mcp"
	sdkserver "github.com/mark3labs/mcp-go/server"
)

// pause is the delay between the steps the suite watches a tool take.
const pause = 50 * time.Millisecond

type toolFunc = sdkserver.ToolHandlerFunc

// says is a tool that returns fixed content.
func says(content ...sdk.Content) toolFunc {
	return func(context.Context, sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: content}, nil
	}
}

// redPixel is a 1×1 PNG, base64.
func redPixel() string {
	img := image.NewRGBA(image.Rect(0, 0, 1, 1))
	img.Set(0, 0, color.RGBA{R: 255, A: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // encoding to memory cannot fail
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// silence is a WAV file of no samples, base64.
func silence() string {
	wav := "RIFF\x24\x00\x00\x00WAVEfmt " +
		"\x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"
	return base64.StdEncoding.EncodeToString([]byte(wav))
}

func addTools(srv *sdkserver.MCPServer) {
	add := func(name, description string, h toolFunc, opts ...sdk.ToolOption) {
		srv.AddTool(sdk.NewTool(name, append([]sdk.ToolOption{sdk.WithDescription(description)}, opts...)...), h)
	}
	add("test_simple_text", "Returns a fixed text.",
		says(sdk.NewTextContent("This is a simple text response for testing.")))
	add("test_image_content", "Returns an image.", says(sdk.NewImageContent(redPixel(), "image/png")))
	add("test_audio_content", "Returns a sound.", says(sdk.NewAudioContent(silence(), "audio/wav")))
	add("test_embedded_resource", "Returns an embedded resource.",
		says(sdk.NewEmbeddedResource(sdk.TextResourceContents{
			URI: "test://embedded-resource", MIMEType: "text/plain", Text: "This is an embedded resource content.",
		})))
	add("test_multiple_content_types", "Returns text, an image and a resource.", says(
		sdk.NewTextContent("Multiple content types test:"),
		sdk.NewImageContent(redPixel(), "image/png"),
		sdk.NewEmbeddedResource(sdk.TextResourceContents{
			URI: "test://mixed-content-resource", MIMEType: "application/json", Text: `{"test":"data","value":123}`,
		}),
	))
	add("test_error_handling", "Always fails.", func(context.Context, sdk.CallToolRequest) (*sdk.CallToolResult,
		error) {
		return sdk.NewToolResultError("This tool intentionally returns an error for testing"), nil
	})
	add("test_tool_with_logging", "Logs three times at info level.", logging)
	add("test_logging_tool", "Logs three times at info level.", logging)
	add("test_tool_with_progress", "Reports progress three times.", progress)
	add("test_x_mcp_header", "Takes a parameter that also travels in a header.",
		says(sdk.NewTextContent("The header matches.")), withHeader("region", "Region"))
	add("test_missing_capability", "Needs the sampling capability of the client.",
		func(ctx context.Context, _ sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if mcp.ClientCapabilities(ctx).Sampling == nil {
				return nil, mcp.MissingCapability("sampling")
			}
			return sdk.NewToolResultText("The client can sample."), nil
		})
	add("test_trigger_tool_change", "Adds and removes a tool.",
		func(context.Context, sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			srv.AddTool(sdk.NewTool("test_passing_tool", sdk.WithDescription("Comes and goes.")), says())
			srv.DeleteTools("test_passing_tool")
			return sdk.NewToolResultText("The list of tools changed."), nil
		})
	add("test_trigger_prompt_change", "Adds and removes a prompt.",
		func(context.Context, sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			srv.AddPrompt(sdk.NewPrompt("test_passing_prompt", sdk.WithPromptDescription("Comes and goes.")),
				prompt(sdk.NewTextContent("")))
			srv.DeletePrompts("test_passing_prompt")
			return sdk.NewToolResultText("The list of prompts changed."), nil
		})
	srv.AddTool(sdk.NewToolWithRawSchema("json_schema_2020_12_tool", "Has a JSON Schema 2020-12 input.", schema2020()),
		says(sdk.NewTextContent("ok")))
}

// withHeader adds a string parameter mirrored in the header Mcp-Param-<header>.
func withHeader(name, header string) sdk.ToolOption {
	return sdk.WithString(name, sdk.Description("Mirrored in a header."), func(schema map[string]any) {
		schema["x-mcp-header"] = header
	})
}

// schema2020 uses the keywords of JSON Schema 2020-12 that a server must not
// lose: references, anchors and applicators.
func schema2020() json.RawMessage {
	text := map[string]any{"type": "string"}
	b, err := json.Marshal(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"type":    "object",
		"$defs": map[string]any{"address": map[string]any{
			"$anchor": "addressDef", "type": "object", "properties": map[string]any{"street": text, "city": text},
		}},
		"properties": map[string]any{
			"name": text, "address": map[string]any{"$ref": "#/$defs/address"},
			"contactMethod": map[string]any{"type": "string", "enum": []string{"phone", "email"}},
			"phone":         text, "email": text,
		},
		"allOf": []any{map[string]any{"anyOf": []any{
			map[string]any{"required": []string{"phone"}}, map[string]any{"required": []string{"email"}},
		}}},
		"if": map[string]any{
			"properties": map[string]any{"contactMethod": map[string]any{"const": "phone"}},
			"required":   []string{"contactMethod"},
		},
		"then":                 map[string]any{"required": []string{"phone"}},
		"else":                 map[string]any{"required": []string{"email"}},
		"additionalProperties": false,
	})
	if err != nil {
		panic(err) // literals always encode
	}
	return b
}

func logging(ctx context.Context, _ sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	srv := sdkserver.ServerFromContext(ctx)
	for i, text := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if err := wait(ctx, i); err != nil {
			return nil, err
		}
		note := sdk.NewLoggingMessageNotification(sdk.LoggingLevelInfo, "conformance", text)
		if err := srv.SendLogMessageToClient(ctx, note); err != nil {
			return nil, err
		}
	}
	return sdk.NewToolResultText("Logged three messages."), nil
}

func progress(ctx context.Context, req sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	srv := sdkserver.ServerFromContext(ctx)
	for i, done := range []int{0, 50, 100} {
		if err := wait(ctx, i); err != nil {
			return nil, err
		}
		if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
			continue
		}
		err := srv.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": req.Params.Meta.ProgressToken, "progress": done, "total": 100,
		})
		if err != nil {
			return nil, err
		}
	}
	return sdk.NewToolResultText("Done."), nil
}

// wait pauses before every step but the first.
func wait(ctx context.Context, step int) error {
	if step == 0 {
		return nil
	}
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), ctx.Err())
	}
}
